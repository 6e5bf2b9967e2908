import { LineSplitter } from "./lines.ts";
import type { HeaderRecord, ReadRecord } from "./records.ts";
import { type Chunks, converted, goodRecord } from "./scan.ts";

/**
 * Every good record of a damaged file, in order.
 *
 * @param onBad told of each line that is none
 */
export async function* goodRecords(chunks: Chunks, onBad: () => void = () => undefined): AsyncGenerator<ReadRecord> {
	const splitter = new LineSplitter();
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			const record = goodRecord(line) ?? converted(line);
			if (record === undefined) onBad();
			else yield record;
		}
	}
	if (splitter.rest() !== undefined) onBad();
}

/** What the headers of a damaged file say. */
export type Headers = {
	/** the first that can still be read: each sitting repeats what the run is */
	readonly first: HeaderRecord | undefined;
	/** whether there are records of more than one run */
	readonly mixed: boolean;
	/** a format that this program does not know, if there is one */
	readonly newer: number | undefined;
};

export async function headersOf(chunks: Chunks): Promise<Headers> {
	let first: HeaderRecord | undefined;
	let mixed = false;
	let newer: number | undefined;
	for await (const record of goodRecords(chunks)) {
		if (record.kind === "newer") newer ??= record.version;
		if (record.kind !== "header") continue;
		first ??= record;
		mixed ||= record.run !== first.run;
	}
	return { first, mixed, newer };
}

/**
 * Whether each record of a file is one of the run, except for its first header. From the header of another run to the
 * next of its own all are the other's: their rows would be counted as this run's.
 */
export function ofRun({ run }: HeaderRecord, mixed: boolean): (record: ReadRecord) => "own" | "first" | "other" {
	let own = !mixed;
	let seen = false;
	return (record) => {
		if (record.kind === "header") own = record.run === run;
		if (!own) return "other";
		if (record.kind !== "header" || seen) return "own";
		seen = true;
		return "first";
	};
}
