import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { errorCode } from "../errors.ts";

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
	/** A file is written here and not by Node, which treats a short write as a whole one. A full disk causes short writes. */
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
			if (this.#file !== undefined) writeWhole(this.#file, text);
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

function writeWhole(file: number, text: string): void {
	let bytes = Buffer.from(text, "utf8");
	while (bytes.length > 0) bytes = bytes.subarray(writeSync(file, bytes));
}
