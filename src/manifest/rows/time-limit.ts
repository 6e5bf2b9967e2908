import { createContext, Script } from "node:vm";
import { errorCode } from "../../errors.ts";

/**
 * Runs work that may take for ever, such as a pattern that goes back over its text again and again. No timer could end
 * it, as it keeps the program from everything else; the time limit of node:vm does, and takes a tenth of a millisecond.
 */
export class TimeLimit {
	readonly #context = createContext({ work: undefined });
	readonly #script = new Script("work()");

	/**
	 * Whether the work came to its end within so many milliseconds. What it throws is thrown.
	 */
	isEnough(milliseconds: number, work: () => void): boolean {
		this.#context["work"] = work;
		try {
			this.#script.runInContext(this.#context, { timeout: milliseconds });
			return true;
		} catch (error) {
			if (errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
			throw error;
		} finally {
			this.#context["work"] = undefined;
		}
	}
}
