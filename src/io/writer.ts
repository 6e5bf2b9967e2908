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
export function writerOn(stream: Output) {
	// A file is not written by its stream, which treats a short write as a whole one. A full disk causes short writes.
	const file = typeof stream.fd === "number" && !(stream instanceof Socket) ? stream.fd : undefined;
	let failure: unknown;
	let isClosed = false;
	const fail = (error: unknown): void => {
		if (isClosed || failure !== undefined) return;
		const code = errorCode(error);
		if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") isClosed = true;
		else failure = error;
	};
	stream.on("error", fail);
	/** With a full buffer it waits for the end of this write, which always comes. "drain" does not come after a failure. */
	const send = (text: string): Promise<void> =>
		new Promise((resolve) => {
			const more = stream.write(text, (error) => {
				if (error) fail(error);
				resolve();
			});
			if (more) resolve();
		});
	return {
		get closed(): boolean {
			return isClosed;
		},
		/** The reason why output could not be written; undefined for a closed pipe. */
		get failure(): unknown {
			return failure;
		},
		/** Resolves when the stream takes more. Never rejects. */
		async write(text: string): Promise<void> {
			if (text === "" || isClosed || failure !== undefined) return;
			try {
				if (file === undefined) await send(text);
				else writeFileSync(file, text);
			} catch (error) {
				fail(error);
			}
		},
		/** Resolves when everything is written, or never will be. */
		async flush(): Promise<void> {
			// Writes keep their order: when an empty one is done, so are all before it.
			if ((stream.writableLength ?? 0) > 0) await new Promise((resolve) => stream.write("", resolve));
			// A failed write calls back before the stream emits its error.
			await new Promise((resolve) => setImmediate(resolve));
		},
	};
}

/** A named pipe without a reader is refused: opening it would block the program. Windows has neither of the flags. */
const APPENDING =
	constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Links of the system, such as /dev/stderr. In a folder of other users, a link may lead to a file that they want changed. */
const SYSTEM = /^\/(?:dev|proc)\//;

/**
 * Opens the file of `--log-file` to append to it. A new file is open to its owner alone. A line that was written is in it even
 * if the program is killed.
 *
 * @throws CliError exit 2
 */
export function openLog(path: string) {
	let file: number | undefined = openToAppend(path);
	let failure: string | undefined;
	return {
		/** Why it could not be written. After a failure nothing more is written. */
		get failure(): string | undefined {
			return failure;
		},
		/** Appends each line of a text, with its time and type. Returns why it failed, once. */
		write(date: Date, type: string, text: string): string | undefined {
			if (file === undefined || failure !== undefined) return undefined;
			const lines = text.split("\n").map((line) => `${date.toISOString()} ${type}: ${line}\n`);
			try {
				writeFileSync(file, lines.join(""));
			} catch (error) {
				failure = `--log-file ${path}: ${reason(error)}`;
			}
			return failure;
		},
		close(): void {
			if (file !== undefined) closeSync(file);
			file = undefined;
		},
	};
}

function openToAppend(path: string): number {
	try {
		const noFollow = SYSTEM.test(resolve(path)) ? 0 : (constants.O_NOFOLLOW ?? 0);
		const file = openSync(path, APPENDING | noFollow, 0o600);
		if (!fstatSync(file).isDirectory()) return file;
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
