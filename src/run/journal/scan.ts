import { decode, isIntact } from "./decode.ts";
import { type Line, LineSplitter } from "./lines.ts";
import type { ReadRecord } from "./records.ts";

/** Pieces of a file in order, of any size. A piece must stay as it is after the next was asked for. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Damage that no torn write explains. */
export type Damage = {
	/** where the first bad record begins */
	readonly corrupt: number;
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
		const at = { corrupt: goodLength, record: records + 1 };
		return { goodLength, records, end: rule === undefined ? at : { ...at, rule } };
	};
	const read = (line: Line): Scan | undefined => {
		if (!bad && line.terminated && line.bytes !== undefined && !isWanted(line.bytes) && isIntact(line.bytes)) {
			goodLength = line.next;
			records += 1;
			return undefined;
		}
		const record = goodRecord(line);
		if (bad) return record === undefined && converted(line) === undefined ? undefined : damage();
		if (record === undefined) {
			bad = true;
			// Line ends that a program changed look like one torn write from the first record on.
			return converted(line) === undefined ? undefined : damage("line ends that another program changed");
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
export function goodRecord({ bytes, terminated }: Line): ReadRecord | undefined {
	return terminated && bytes !== undefined ? decode(bytes) : undefined;
}

const CARRIAGE_RETURN = 0x0d;

/** The record of a line whose end was turned into CR LF. */
export function converted({ bytes, terminated }: Line): ReadRecord | undefined {
	if (!terminated || bytes === undefined || bytes.at(-1) !== CARRIAGE_RETURN) return undefined;
	return decode(bytes.subarray(0, -1));
}
