import { decode, isIntact } from "./decode.ts";
import { MAX_LINE_BYTES } from "./encode.ts";
import type { ReadRecord } from "./records.ts";

/** Pieces of a file in order, of any size. A piece must stay as it is after the next was asked for. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Damage that no torn write explains. */
export type Damage = {
	/** where the first bad record begins */
	readonly byte: number;
	/** its place among the records, from 1 */
	readonly record: number;
	/** the rule that it breaks; absent where it is no record at all */
	readonly rule?: string;
};

export type Scan = {
	/** bytes from the beginning in which every record is good */
	readonly goodLength: number;
	/** records in them */
	readonly records: number;
	/**
	 * `torn`: what follows the good records is a write that was cut off, and nothing good is behind it.
	 */
	readonly end: "clean" | "torn" | Damage;
};

/** Where a record stands in its file. */
export type Place = { readonly offset: number; readonly next: number };

/**
 * Reads records until the first bad one, which is told from the end of a write that was cut off by what follows it: a
 * good record behind a bad one is there because both had been written, so the bad one was damaged.
 *
 * @param onRecord sees each good record; what it returns is a rule that the record breaks, which is damage too
 * @param isWanted told a line's bytes; of those that are not wanted nothing but the checksum is looked at
 */
export async function scan(
	chunks: Chunks,
	onRecord: (record: ReadRecord, place: Place) => string | undefined,
	isWanted: (bytes: Uint8Array) => boolean = () => true,
): Promise<Scan> {
	const splitter = new LineSplitter();
	let goodLength = 0;
	let records = 0;
	let bad = false;
	const damage = (rule?: string): Scan => {
		const at = { byte: goodLength, record: records + 1 };
		return { goodLength, records, end: rule === undefined ? at : { ...at, rule } };
	};
	const read = (line: Line): Scan | undefined => {
		if (!bad && line.terminated && line.bytes !== undefined && !isWanted(line.bytes) && isIntact(line.bytes)) {
			goodLength = line.next;
			records += 1;
			return undefined;
		}
		const record = recordOfLine(line);
		if (bad) return record === undefined && recordWithCrLf(line) === undefined ? undefined : damage();
		if (record === undefined) {
			bad = true;
			// Line ends that a program changed look like one torn write from the first record on.
			return recordWithCrLf(line) === undefined ? undefined : damage("line ends that another program changed");
		}
		const rule = onRecord(record, line);
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
	return damaged ?? { goodLength, records, end: bad ? "torn" : "clean" };
}

/** The record of a line. A line without its end was not written whole, whatever it says. */
export function recordOfLine({ bytes, terminated }: Line): ReadRecord | undefined {
	return terminated && bytes !== undefined ? decode(bytes) : undefined;
}

const CARRIAGE_RETURN = 0x0d;

/** The record of a line whose end was turned into CR LF. */
export function recordWithCrLf({ bytes, terminated }: Line): ReadRecord | undefined {
	if (!terminated || bytes === undefined || bytes.at(-1) !== CARRIAGE_RETURN) return undefined;
	return decode(bytes.subarray(0, -1));
}

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
		return this.#length > MAX_LINE_BYTES;
	}

	/** What follows the last line end, if anything does. */
	rest(): Line | undefined {
		return this.#length === 0 ? undefined : this.#take(0);
	}

	#keep(part: Uint8Array): void {
		this.#length += part.length;
		if (this.#length > MAX_LINE_BYTES) this.#parts = [];
		else if (part.length > 0) this.#parts.push(part);
	}

	#take(ending: 0 | 1): Line {
		const [only] = this.#parts;
		const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
		const offset = this.#offset;
		const next = offset + this.#length + ending;
		const whole = this.#length <= MAX_LINE_BYTES;
		this.#parts = [];
		this.#length = 0;
		this.#offset = next;
		return { offset, bytes: whole ? bytes : undefined, next, terminated: ending === 1 };
	}
}

/**
 * Every good record of a damaged file, in order.
 *
 * @param onBad told of each line that is none
 */
export async function* goodRecords(chunks: Chunks, onBad: () => void = () => undefined): AsyncGenerator<ReadRecord> {
	const splitter = new LineSplitter();
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			const record = recordOfLine(line) ?? recordWithCrLf(line);
			if (record === undefined) onBad();
			else yield record;
		}
	}
	if (splitter.rest() !== undefined) onBad();
}
