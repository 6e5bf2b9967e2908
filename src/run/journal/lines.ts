import { MOST_BYTES } from "./encode.ts";

const LINE_END = 0x0a;

/** A piece of a file between two line ends. */
export type Line = {
	/** where it begins in the file */
	readonly offset: number;
	/** its bytes without the line end; undefined where they are more than a record can have, and were not kept */
	readonly bytes: Uint8Array | undefined;
	/** where the next one begins; for what follows the last line end, the end of the file */
	readonly next: number;
	readonly terminated: boolean;
};

/** Cuts chunks of bytes into lines, holding one line at most. */
export class LineSplitter {
	#parts: Uint8Array[] = [];
	#length = 0;
	#offset = 0;

	/** The lines that end in this chunk. */
	*push(chunk: Uint8Array): Generator<Line> {
		let from = 0;
		for (let to = chunk.indexOf(LINE_END); to !== -1; to = chunk.indexOf(LINE_END, from)) {
			this.#keep(chunk.subarray(from, to));
			yield this.#take(1);
			from = to + 1;
		}
		this.#keep(chunk.subarray(from));
	}

	/** Whether the line that has not ended yet is longer than a record can be: it may never end. */
	get isTooLong(): boolean {
		return this.#length > MOST_BYTES;
	}

	/** What follows the last line end, if anything does. */
	rest(): Line | undefined {
		return this.#length === 0 ? undefined : this.#take(0);
	}

	#keep(part: Uint8Array): void {
		this.#length += part.length;
		if (this.#length > MOST_BYTES) this.#parts = [];
		else if (part.length > 0) this.#parts.push(part);
	}

	#take(ending: 0 | 1): Line {
		const [only] = this.#parts;
		const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
		const offset = this.#offset;
		const next = offset + this.#length + ending;
		const whole = this.#length <= MOST_BYTES;
		this.#parts = [];
		this.#length = 0;
		this.#offset = next;
		return { offset, bytes: whole ? bytes : undefined, next, terminated: ending === 1 };
	}
}
