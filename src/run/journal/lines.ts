import { type Entry, entryOf, MAX_LINE_BYTES } from "./record-line.ts";

/** The bytes of a file in order, in pieces of any size. The reader keeps pieces, so a piece must not change later. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Every good record of a damaged file, in order.
 *
 * @param onBad called for each line that is not a record
 */
export async function* goodEntries(chunks: Chunks, onBad: () => void = () => undefined): AsyncGenerator<Entry> {
	const splitter = new LineSplitter();
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			const entry = entryOfLine(line);
			if (entry === undefined) onBad();
			else yield entry;
		}
	}
	// A line without its end was not written completely.
	if (splitter.hasRest) onBad();
}

const CARRIAGE_RETURN = 0x0d;

/** The record of a line, also where another program changed its end to CR LF. */
export function entryOfLine({ bytes }: Line): Entry | undefined {
	return bytes && entryOf(bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes);
}

const LINE_END = 0x0a;

/** The bytes of a file up to a line end. */
type Line = {
	/** without the line end; undefined for a line that is longer than any record, whose bytes are not kept */
	readonly bytes: Uint8Array | undefined;
	/** offset of the next line */
	readonly next: number;
};

/** Splits chunks of bytes into lines. It holds at most one line. */
export class LineSplitter {
	#parts: Uint8Array[] = [];
	#length = 0;
	#next = 0;

	/** The lines that end in this chunk. */
	*push(chunk: Uint8Array): Generator<Line> {
		let from = 0;
		for (let to = chunk.indexOf(LINE_END); to !== -1; to = chunk.indexOf(LINE_END, from)) {
			this.#keep(chunk.subarray(from, to));
			this.#next += this.#length + 1;
			yield { bytes: this.isTooLong ? undefined : this.rest(), next: this.#next };
			this.#parts = [];
			this.#length = 0;
			from = to + 1;
		}
		this.#keep(chunk.subarray(from));
	}

	/** Whether the line that has not ended yet is longer than any record. It may never end. */
	get isTooLong(): boolean {
		return this.#length > MAX_LINE_BYTES;
	}

	/** Whether there are bytes after the last line end. */
	get hasRest(): boolean {
		return this.#length > 0;
	}

	/** The bytes after the last line end; none of a line that is too long. */
	rest(): Uint8Array {
		const [only] = this.#parts;
		return this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
	}

	#keep(part: Uint8Array): void {
		this.#length += part.length;
		if (this.isTooLong) this.#parts = [];
		else if (part.length > 0) this.#parts.push(part);
	}
}
