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
 * Writes to one of the program's two outputs and remembers what became of them.
 *
 * A reader that has gone away (EPIPE) is no failure: what follows is dropped. Any other failure is remembered, because
 * Node by itself exits with 0 when standard output is on a full disk.
 */
export class Writer {
	readonly #stream: Output;
	/** Files are written here and not by Node: it takes a short write, which is how a disk fills up, for a whole one. */
	readonly #file: number | undefined;
	readonly #onClosed: () => void;
	#failure: unknown;
	#closed = false;

	constructor(stream: Output, onClosed: () => void = () => undefined) {
		this.#stream = stream;
		this.#onClosed = onClosed;
		this.#file = typeof stream.fd === "number" && !(stream instanceof Socket) ? stream.fd : undefined;
		stream.on("error", (error: unknown) => this.#fail(error));
	}

	get closed(): boolean {
		return this.#closed;
	}

	/** The error that kept output from being written, other than a reader that has gone. */
	get failure(): unknown {
		return this.#failure;
	}

	/** Resolves when more may be written. */
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
		// Writes keep their order, so when an empty one is done, all before it are.
		if ((this.#stream.writableLength ?? 0) > 0) await new Promise((resolve) => this.#stream.write("", resolve));
		// A failed write calls back before the stream tells of its error.
		await new Promise((resolve) => setImmediate(resolve));
	}

	/** A full buffer is waited for by this write's own end: it comes in every case, and "drain" not after a failure. */
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
		this.#onClosed();
	}
}

function writeWhole(file: number, text: string): void {
	let bytes = Buffer.from(text, "utf8");
	while (bytes.length > 0) bytes = bytes.subarray(writeSync(file, bytes));
}
