import { closeSync, constants, fstatSync, openSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { errorCode, reason, usageError } from "../errors.ts";
import { resolve } from "node:path";

export type Output = NodeJS.WritableStream & {
	readonly isTTY?: boolean;
	readonly columns?: number;
	readonly writableLength?: number;
	readonly fd?: number;
};

/**
 * Writes to standard output or standard error, and remembers a failure.
 *
 * A closed pipe (EPIPE) is no failure, and further text is dropped. Any other failure is remembered, because Node exits with 0
 * by itself when standard output is on a full disk.
 */
export class Writer {
	readonly #stream: Output;
	/** A file is not written by its stream, which treats a short write as a whole one. A full disk causes short writes. */
	readonly #file: number | undefined;
	#failure: unknown;
	#closed = false;

	constructor(stream: Output) {
		this.#stream = stream;
		this.#file = typeof stream.fd === "number" && !(stream instanceof Socket) ? stream.fd : undefined;
		stream.on("error", (error: unknown) => this.#fail(error));
	}

	get closed(): boolean {
		return this.#closed;
	}

	/** The reason why output could not be written; undefined for a closed pipe. */
	get failure(): unknown {
		return this.#failure;
	}

	/** Resolves when the stream takes more. Never rejects. */
	async write(text: string): Promise<void> {
		if (text === "" || this.#closed || this.#failure !== undefined) return;
		try {
			if (this.#file !== undefined) writeFileSync(this.#file, text);
			else await this.#send(text);
		} catch (error) {
			this.#fail(error);
		}
	}

	/** Resolves when everything is written, or never will be. */
	async flush(): Promise<void> {
		// Writes keep their order: when an empty one is done, so are all before it.
		if ((this.#stream.writableLength ?? 0) > 0) await new Promise((resolve) => this.#stream.write("", resolve));
		// A failed write calls back before the stream emits its error.
		await new Promise((resolve) => setImmediate(resolve));
	}

	/** With a full buffer it waits for the end of this write, which always comes. "drain" does not come after a failure. */
	async #send(text: string): Promise<void> {
		return new Promise((resolve) => {
			const more = this.#stream.write(text, (error) => {
				if (error) this.#fail(error);
				resolve();
			});
			if (more) resolve();
		});
	}

	#fail(error: unknown): void {
		if (this.#closed || this.#failure !== undefined) return;
		const code = errorCode(error);
		if (code !== "EPIPE" && code !== "ERR_STREAM_DESTROYED") {
			this.#failure = error;
			return;
		}
		this.#closed = true;
	}
}

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
			writeFileSync(this.#file, lines.join(""));
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
