import { Exit } from "../../errors.ts";
import type { RestError } from "../../rest/errors.ts";
import type { Stop } from "../types.ts";

/** Rows refused for want of rights, one after another, after which the key is the cause, and not the rows. */
const FORBIDDEN = 5;
/** Answers about another document than was asked for, one after another, after which a proxy must be mixing them up. */
const MIXED_UP = 3;
/** Rows that failed because the server can't do what is asked of it, before any other row was settled. */
const INCAPABLE = 3;
const incapable: ReadonlySet<string> = new Set(["HTTP_501", "HTTP_505", "HTTP_506", "HTTP_511"]);

/** Notices answers that concern one row when they come once, and the whole run when they are repeated. */
export class Repeated {
	#settled = 0;
	#forbidden = 0;
	#mixedUp = 0;
	#incapable = 0;

	/** A row succeeded. */
	succeeded(): void {
		this.#settled += 1;
		this.#forbidden = 0;
		this.#mixedUp = 0;
	}

	/** An attempt failed, whether or not its row is retried. */
	tried(error: RestError): Stop | undefined {
		this.#mixedUp = error.code === "ECHO_MISMATCH" ? this.#mixedUp + 1 : 0;
		if (this.#mixedUp < MIXED_UP) return undefined;
		return {
			exit: Exit.temporary,
			text: `${MIXED_UP} answers in a row were about another document than was asked for: ${error.message}`,
			hint: "Something between here and the service mixes answers up: check the proxy settings and --base-url.",
		};
	}

	/** A row failed for good. */
	failed(error: RestError): Stop | undefined {
		this.#settled += 1;
		this.#forbidden = error.code === "FORBIDDEN" ? this.#forbidden + 1 : 0;
		if (incapable.has(error.code)) this.#incapable += 1;
		if (this.#forbidden > 0 && (this.#settled === 1 || this.#forbidden >= FORBIDDEN)) {
			const which = this.#settled === 1 ? "the first row was" : `${FORBIDDEN} rows in a row were`;
			return {
				exit: Exit.untrusted,
				text: `${which} refused for want of rights: ${error.message}`,
				hint: "Check the dataset's id: ragtag datasets list shows those that this key may use. Where it is right, check that the key may update the dataset, as a member of a team may not; ragtag doctor -d DATASET asks the service.",
			};
		}
		if (this.#incapable < INCAPABLE || this.#incapable !== this.#settled) return undefined;
		return {
			exit: Exit.temporary,
			text: `the first ${INCAPABLE} rows met a server that can't do what is asked of it: ${error.message}`,
			hint: "Check --base-url and what stands between here and the service.",
		};
	}
}
