import { ReadingStop } from "../fault.ts";
import type { RawRow, RowParser } from "../rows/row-reader.ts";
import type { ManifestOptions } from "../types.ts";
import { gather, openArchive } from "./archive.ts";
import { SheetReader } from "./reader.ts";
import { SheetRows } from "./sheet-rows.ts";
import { readWorkbook, WORKBOOK } from "./workbook.ts";

/**
 * The rows of a sheet as they stand in it, some hundred at a time. There is always a batch, be it empty.
 *
 * @param otherwise what the file is if it is no workbook
 * @throws Stop, always with a position
 */
export async function* workbookBatches(
	blocks: AsyncIterable<Buffer>,
	options: ManifestOptions,
	otherwise: ReadingStop,
): AsyncGenerator<{ readonly reader: RowParser; readonly rows: readonly RawRow[] }> {
	const archive = await openArchive(await gather(blocks));
	if (!archive.has(WORKBOOK)) throw otherwise;
	const workbook = await readWorkbook(archive, options.sheet);
	const { name, part } = workbook.sheet;
	const reader = new SheetReader(name, options);
	const rows = new SheetRows(workbook);
	try {
		for await (const text of archive.read(part)) yield { reader, rows: reader.rows(rows.push(text)) };
		rows.end();
	} catch (error) {
		if (!(error instanceof ReadingStop)) throw error;
		throw new ReadingStop(error.code, error.message, { line: rows.row, column: 1 });
	}
	reader.end();
	yield { reader, rows: [] };
}
