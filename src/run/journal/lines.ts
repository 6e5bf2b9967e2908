import { entryOf, type Entry } from "./decode.ts";
import { MAX_LINE_BYTES } from "./encode.ts";

/** The bytes of a file in order, in pieces of any size. The reader keeps pieces, so a piece must not change later. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Damage that a write that was cut off does not explain. */
export type Damage = {
	/** offset of the first bad record */
	readonly byte: number;
	/** its number among the records, from 1 */
	readonly record: number;
	/** the rule that the record breaks; absent where the line is no record at all */
	readonly rule?: string;
};

type Scan = {
	/** bytes from the beginning of the file in which every record is good */
	readonly goodLength: number;
	/** number of records in these bytes */
	readonly records: number;
	/** `torn`: the rest is a write that was cut off, and no good record follows it */
	readonly end: "clean" | "torn" | Damage;
};

/**
 * Reads records until the first bad one. The next record shows whether it is damage or a write that was cut off: where a
 * good record follows, both had been written completely, so the bad one was damaged later.
 *
 * @param onEntry called with each good record and its offset; it returns the rule that the record breaks, which is damage too
 */
export async function scan(
	chunks: Chunks,
	onEntry: (entry: Entry, offset: number) => string | undefined,
): Promise<Scan> {
	const splitter = new LineSplitter();
	let goodLength = 0;
	let records = 0;
	let hasBadLine = false;
	const damage = (rule?: string): Scan => {
		const at = { byte: goodLength, record: records + 1 };
		return { goodLength, records, end: rule === undefined ? at : { ...at, rule } };
	};
	/** @returns the result of the scan, where the line is damage */
	const read = (line: Line): Scan | undefined => {
		const entry = entryOfLine(line);
		const hasCrLf = entry === undefined && entryWithCrLf(line) !== undefined;
		if (hasBadLine) return entry === undefined && !hasCrLf ? undefined : damage();
		if (entry === undefined) {
			hasBadLine = true;
			// In a file with converted line ends no record is good: it would pass for one write that was cut off.
			return hasCrLf ? damage("line ends that another program changed") : undefined;
		}
		const rule = onEntry(entry, line.offset);
		if (rule !== undefined) return damage(rule);
		goodLength = line.next;
		records += 1;
		return undefined;
	};
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			const damaged = read(line);
			if (damaged !== undefined) return damaged;
		}
	}
	const rest = splitter.rest();
	const damaged = rest === undefined ? undefined : read(rest);
	return damaged ?? { goodLength, records, end: hasBadLine ? "torn" : "clean" };
}

/**
 * Every good record of a damaged file, in order.
 *
 * @param onBad called for each line that is not a record
 */
export async function* goodEntries(chunks: Chunks, onBad: () => void = () => undefined): AsyncGenerator<Entry> {
	const splitter = new LineSplitter();
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			const entry = entryOfLine(line) ?? entryWithCrLf(line);
			if (entry === undefined) onBad();
			else yield entry;
		}
	}
	if (splitter.rest() !== undefined) onBad();
}

/** The record of a line. A line without its end was not written completely, so it is none. */
function entryOfLine({ bytes, isTerminated }: Line): Entry | undefined {
	return isTerminated && bytes !== undefined ? entryOf(bytes) : undefined;
}

const CARRIAGE_RETURN = 0x0d;

/** The record of a line whose end another program changed to CR LF. */
function entryWithCrLf({ bytes, isTerminated }: Line): Entry | undefined {
	if (!isTerminated || bytes === undefined || bytes.at(-1) !== CARRIAGE_RETURN) return undefined;
	return entryOf(bytes.subarray(0, -1));
}

const LINE_END = 0x0a;

/** The bytes of a file up to a line end, or after the last one. */
type Line = {
	/** offset of the line in the file */
	readonly offset: number;
	/** without the line end; undefined for a line that is longer than any record, whose bytes are not kept */
	readonly bytes: Uint8Array | undefined;
	/** offset of the next line, or the end of the file */
	readonly next: number;
	readonly isTerminated: boolean;
};

/** Splits chunks of bytes into lines. It holds at most one line. */
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

	/** Whether the line that has not ended yet is longer than any record. It may never end. */
	get isTooLong(): boolean {
		return this.#length > MAX_LINE_BYTES;
	}

	/** The bytes after the last line end; undefined where there are none. */
	rest(): Line | undefined {
		return this.#length === 0 ? undefined : this.#take(0);
	}

	#keep(part: Uint8Array): void {
		this.#length += part.length;
		if (this.isTooLong) this.#parts = [];
		else if (part.length > 0) this.#parts.push(part);
	}

	#take(endLength: 0 | 1): Line {
		const [only] = this.#parts;
		const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
		const offset = this.#offset;
		const next = offset + this.#length + endLength;
		const line = { offset, bytes: this.isTooLong ? undefined : bytes, next, isTerminated: endLength === 1 };
		this.#parts = [];
		this.#length = 0;
		this.#offset = next;
		return line;
	}
}
