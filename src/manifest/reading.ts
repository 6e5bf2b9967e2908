import { decode, unpack } from "./bytes/decode.ts";
import { CsvReader } from "./csv/reader.ts";
import { ReadingStop } from "./fault.ts";
import { JsonReader } from "./json/reader.ts";
import { MAX_RECORD } from "./limits.ts";
import { positionIn } from "./position.ts";
import type { RawRow, RowReader } from "./rows/row-reader.ts";
import type { ManifestOptions } from "./types.ts";

export type Batch = { readonly reader: RowReader; readonly rows: readonly RawRow[] };

/**
 * A manifest's rows as they stand in it, some hundred at a time. There is always a batch, be it empty.
 *
 * @throws Stop, always with a position, where nothing after it can be trusted
 */
export async function* readBatches(blocks: AsyncIterable<Buffer>, options: ManifestOptions): AsyncGenerator<Batch> {
	let start = "";
	let reader: RowReader | undefined;
	try {
		for await (const text of decode(unpack(blocks))) {
			start += text;
			reader ??= readerFor(start, options);
			if (reader === undefined) continue;
			yield { reader, rows: reader.push(start) };
			checkStop(reader);
			start = "";
		}
		reader ??= new CsvReader(options);
		yield { reader, rows: reader.push(start) };
		checkStop(reader);
		yield { reader, rows: reader.end() };
		checkStop(reader);
	} catch (error) {
		if (!(error instanceof ReadingStop) || error.at !== undefined) throw error;
		const { text, line, column } = reader?.tail ?? { text: start, line: 1, column: 1 };
		throw new ReadingStop(error.code, error.message, positionIn(text, text.length, line, column));
	}
}

/** @throws Stop once the rows before it were handed on */
function checkStop({ stop }: RowReader): void {
	if (stop !== undefined) throw stop;
}

/** The reader of the format that the first character shows, white space left aside. Undefined until that has come. */
function readerFor(start: string, options: ManifestOptions): RowReader | undefined {
	const first = /\S/.exec(start)?.[0];
	if (first === "[") return new JsonReader("json", options);
	if (first === "{") return new JsonReader("jsonl", options);
	if (first === undefined && start.length <= MAX_RECORD) return undefined;
	return new CsvReader(options);
}
