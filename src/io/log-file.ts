import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { CliError, Exit, reason } from "../errors.ts";

/** A named pipe without a reader is refused: opening it would block the program. Windows has neither of the flags. */
const APPENDING =
	constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** The file of `--log-file`. A line that was written is in it even if the program is killed. */
export class LogFile {
	readonly #path: string;
	#file: number | undefined;
	#failure: string | undefined;

	/** Opens it to append to it. A new file is open to its owner alone. @throws CliError exit 2 */
	static open(path: string): LogFile {
		try {
			const file = openSync(path, APPENDING, 0o600);
			if (!fstatSync(file).isDirectory()) return new LogFile(path, file);
			closeSync(file);
			throw new Error("it is a directory");
		} catch (error) {
			throw new CliError(`--log-file ${path}: ${reason(error)}; nothing was sent`, {
				exit: Exit.usage,
				hint: "Name a file that can be written, in a folder that exists.",
				cause: error,
			});
		}
	}

	private constructor(path: string, file: number) {
		this.#path = path;
		this.#file = file;
	}

	/** Why it could not be written. After a failure nothing more is written. */
	get failure(): string | undefined {
		return this.#failure;
	}

	/** Appends each line of a text, with its time and type. Returns why it failed, once. */
	write(date: Date, type: string, text: string): string | undefined {
		if (this.#file === undefined || this.#failure !== undefined) return undefined;
		const lines = text.split("\n").map((line) => `${date.toISOString()} ${type}: ${line}\n`);
		try {
			let bytes = Buffer.from(lines.join(""), "utf8");
			while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#file, bytes));
		} catch (error) {
			this.#failure = `--log-file ${this.#path}: ${reason(error)}`;
		}
		return this.#failure;
	}

	close(): void {
		if (this.#file !== undefined) closeSync(this.#file);
		this.#file = undefined;
	}
}
