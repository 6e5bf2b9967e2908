import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { errorCode, reason, usageError } from "../errors.ts";

/** A named pipe without a reader is refused: opening it would block the program. Windows has neither of the flags. */
const APPENDING =
	constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Links of the system, such as /dev/stderr. In a folder of other users, a link may lead to a file that they want changed. */
const SYSTEM = /^\/(?:dev|proc)\//;

/** The file of `--log-file`. A line that was written is in it even if the program is killed. */
export class LogFile {
	readonly #path: string;
	#file: number | undefined;
	#failure: string | undefined;

	/** Opens it to append to it. A new file is open to its owner alone. @throws CliError exit 2 */
	static open(path: string): LogFile {
		try {
			const noFollow = SYSTEM.test(resolve(path)) ? 0 : (constants.O_NOFOLLOW ?? 0);
			const file = openSync(path, APPENDING | noFollow, 0o600);
			if (!fstatSync(file).isDirectory()) return new LogFile(path, file);
			closeSync(file);
			throw new Error("it is a directory");
		} catch (error) {
			const isLink = errorCode(error) === "ELOOP";
			const why = isLink ? "is a link to another file; name that file itself" : reason(error);
			throw usageError(
				`--log-file ${path}: ${why}; nothing was sent`,
				"Name a file that can be written, in a folder that exists.",
				error,
			);
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
