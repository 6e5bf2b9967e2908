import { CliError, Exit } from "../errors.ts";
import type { Source } from "./bytes/source.ts";
import { Stop } from "./fault.ts";
import { positionIn } from "./position.ts";
import { PURPOSES } from "./purposes.ts";
import { readBatches } from "./reading.ts";
import type { RawRow, RowReader } from "./rows/draft.ts";
import type { Dispositions } from "./rows/dispositions.ts";
import type { RowJudge } from "./rows/judge.ts";
import type { ManifestOptions, Row, Wanted } from "./types.ts";

/**
 * The rows that the first reading found to be valid, in order.
 *
 * @param dispositions absent when the manifest can't be trusted at all: then no row is valid
 * @throws CliError exit 8 when the manifest, or a file it names, is not what was checked
 */
export async function* readValidRows(
	name: string,
	source: Source,
	options: ManifestOptions,
	judge: RowJudge,
	dispositions: Dispositions | undefined,
): AsyncGenerator<Row> {
	if (dispositions === undefined) return;
	let index = 0;
	try {
		for await (const { reader, rows } of readBatches(source.second(), options)) {
			for (const raw of rows) {
				if (dispositions.isValid(index)) yield await rowOf(name, reader, raw, index, options, judge);
				index++;
			}
		}
	} catch (error) {
		if (error instanceof Stop)
			throw new CliError("the manifest was changed after it was checked", { exit: Exit.foreign });
		throw error;
	}
}

async function rowOf(
	name: string,
	reader: RowReader,
	raw: RawRow,
	index: number,
	options: ManifestOptions,
	judge: RowJudge,
): Promise<Row> {
	const draft = reader.draft(raw);
	judge.complete(draft);
	const { datasetId, documentId, metadata } = draft;
	const { subject } = PURPOSES[options.purpose];
	let file: Row["file"];
	if (subject.hasFile) {
		const found = await judge.file(draft);
		if ("code" in found) {
			throw new CliError(`line ${raw.line}: file: ${found.text}, unlike when it was checked`, {
				exit: Exit.foreign,
				hint: "Leave the files alone while they are uploaded, and run the same command again.",
			});
		}
		file = found;
	}
	const wanted = subject.isNamed ? wantedOf(name, reader, raw, draft.name) : undefined;
	return { index, line: raw.line, datasetId, documentId, file, metadata, source: reader.source(raw), wanted };
}

function wantedOf(file: string, reader: RowReader, raw: RawRow, name: string): Wanted {
	return { file, name, place: () => positionIn(raw.text, reader.offsetOf(raw, "name"), raw.line, raw.column) };
}
