import { CliError, Exit } from "../errors.ts";
import type { Source } from "./bytes/source.ts";
import { PURPOSES } from "./purposes.ts";
import type { RowMarks } from "./rows/repeats.ts";
import type { FoundFile, RowValidator } from "./rows/validator.ts";
import type { ParsedRow, RawRow, RowParser, RowReader } from "./rows/row-reader.ts";
import type { IsWanted, ManifestOptions, NameReference, Row } from "./types.ts";
import { decode } from "./bytes/decode.ts";
import { beginning, unpack } from "./bytes/unpack.ts";
import { mistakenFile } from "./mistaken.ts";
import { csvReader } from "./csv/reader.ts";
import { ReadingStop, positionIn } from "./fault.ts";
import { jsonReader } from "./json/reader.ts";
import { MAX_RECORD } from "./limits.ts";

/** A manifest that is read twice. */
export type OpenManifest = {
	/** as messages call it */
	readonly name: string;
	readonly source: Source;
	readonly options: ManifestOptions;
	readonly validator: RowValidator;
};

/**
 * The rows that the first reading found to be valid, in order, some hundred at a time: a step of an iterator for each row
 * would cost half as much as reading it.
 *
 * @param dispositions undefined where the header or the encoding is wrong, so that no row is valid
 * @param isWanted called with the position of each valid row; any other row is read, and not parsed
 * @throws CliError exit 8 when the manifest, or a file it names, is not what was checked
 */
export async function* readValidRows(
	manifest: OpenManifest,
	dispositions: RowMarks | undefined,
	isWanted: IsWanted = () => true,
): AsyncGenerator<readonly Row[]> {
	if (dispositions === undefined) return;
	const { hasFile, isNamed } = PURPOSES[manifest.options.purpose].subject;
	let index = 0;
	try {
		for await (const { reader, rows } of readBatches(manifest.source.second(), manifest.options)) {
			const valid: Row[] = [];
			for (const raw of rows) {
				if (dispositions.of(index) === Disposition.valid && isWanted(index)) {
					const parsed = reader.parse(raw);
					manifest.validator.applyOptions(parsed);
					const file = hasFile ? await fileOf(manifest, raw, parsed) : undefined;
					const { datasetId, documentId, metadata } = parsed;
					const title = file?.name ?? parsed.name;
					valid.push({
						index,
						line: raw.line,
						datasetId,
						documentId,
						name: title === "" ? undefined : title,
						file,
						metadata,
						source: raw,
						nameReference: isNamed ? referenceOf(manifest.name, reader, raw, parsed.name) : undefined,
					});
					// The next file may be missing: the rows before it are sent.
					if (hasFile) yield valid.splice(0);
				}
				index++;
			}
			if (valid.length > 0) yield valid;
		}
	} catch (error) {
		if (error instanceof ReadingStop)
			throw new CliError("the manifest was changed after it was checked", { exit: Exit.foreign });
		throw error;
	}
}

async function fileOf({ validator }: OpenManifest, raw: RawRow, parsed: ParsedRow): Promise<FoundFile> {
	const found = await validator.findFile(parsed);
	if (!("code" in found)) return found;
	throw new CliError(`line ${raw.line}: file: ${found.text}, unlike when it was checked`, {
		exit: Exit.foreign,
		hint: "Leave the files alone while they are uploaded, and run the same command again.",
	});
}

function referenceOf(file: string, reader: RowParser, raw: RawRow, name: string): NameReference {
	return { file, name, place: () => positionIn(raw.text, reader.offsetOf(raw, "name"), raw.line, raw.column) };
}

/** Whether a row is sent, is wrong, is left out because another row is about the same document, or is of another shard. */
export const Disposition = { valid: 0, invalid: 1, duplicate: 2, other: 3 } as const;
export type Disposition = (typeof Disposition)[keyof typeof Disposition];

export type Batch = { readonly reader: RowParser; readonly rows: readonly RawRow[] };

/**
 * A manifest's rows as they stand in it, some hundred at a time. There is always a batch, be it empty.
 *
 * @throws Stop, always with a position, where nothing after it can be trusted
 */
export async function* readBatches(blocks: AsyncIterable<Buffer>, options: ManifestOptions): AsyncGenerator<Batch> {
	const { first, all, end } = await beginning(unpack(blocks)).catch((error: unknown) => {
		throw error instanceof ReadingStop
			? new ReadingStop(error.code, error.message, error.at ?? { line: 1, column: 1 })
			: error;
	});
	const mistaken = first && mistakenFile(first);
	if (mistaken === undefined) yield* textBatches(all, options);
	else if (mistaken.isWorkbook) {
		// Hardly any manifest is a workbook, and its libraries are loaded for one alone.
		const { workbookBatches } = await import("./xlsx/reader.ts");
		yield* workbookBatches(all, options, mistaken.stop);
	} else {
		await end();
		throw mistaken.stop;
	}
}

async function* textBatches(blocks: AsyncIterable<Buffer>, options: ManifestOptions): AsyncGenerator<Batch> {
	let start = "";
	let end = { line: 1, column: 1 };
	let reader: RowReader | undefined;
	try {
		for await (const text of decode(blocks, options.encoding)) {
			end = positionIn(text, text.length, end.line, end.column);
			start += text;
			reader ??= readerFor(start, options);
			if (reader === undefined) continue;
			yield { reader, rows: reader.push(start) };
			checkStop(reader);
			start = "";
		}
		reader ??= csvReader(options);
		yield { reader, rows: reader.push(start) };
		checkStop(reader);
		yield { reader, rows: reader.end() };
		checkStop(reader);
	} catch (error) {
		if (!(error instanceof ReadingStop) || error.at !== undefined) throw error;
		throw new ReadingStop(error.code, error.message, end);
	}
}

/** @throws Stop once the rows before it were handed on */
function checkStop({ stop }: RowReader): void {
	if (stop !== undefined) throw stop;
}

/** The reader of the format that the first character shows, white space left aside. Undefined until that has come. */
function readerFor(start: string, options: ManifestOptions): RowReader | undefined {
	const first = /\S/.exec(start)?.[0];
	if (first === "[") return jsonReader("json", options);
	if (first === "{") return jsonReader("jsonl", options);
	if (first === undefined && start.length <= MAX_RECORD) return undefined;
	return csvReader(options);
}
