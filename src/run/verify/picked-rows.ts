import type { RecordedRun } from "../journal/reader.ts";
import { isWritten, countWritten } from "../../outcomes.ts";
import { type WrittenRow, writtenRows } from "../recorded/recorded-rows.ts";
import type { VerifyMode } from "../types.ts";

/** Rows of a sample: where 1 % of all rows are lost, 300 of them show it with a certainty of 95 %. */
const SAMPLE_ROWS = 300;

/** The rows of a run that are to be read back. */
export type PickedRows = {
	readonly count: number;
	has(row: number): boolean;
	/** how many rows were picked of each dataset */
	readonly byDataset: ReadonlyMap<string, number>;
	/** a dataset in which metadata was written; undefined where none was */
	readonly taggedDataset: string | undefined;
	/** all rows that were written, picked or not */
	readonly written: number;
	/** written rows whose document and metadata are not known, as a repair could not keep their records */
	readonly unrecorded: number;
};

type InDataset = Pick<WrittenRow, "datasetId">;

/** Whether the service confirmed the write of a row, and its document is known. */
export function isConfirmed({ status, documentId }: WrittenRow): boolean {
	return isWritten(status) && documentId !== "";
}

/** The number of rows of each dataset. */
export async function rowsByDataset(
	rows: AsyncIterable<InDataset> | Iterable<InDataset>,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for await (const { datasetId } of rows) counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
	return counts;
}

/** @param random from 0 up to but not including 1 */
export async function pickRows(run: RecordedRun, mode: VerifyMode, random: () => number): Promise<PickedRows> {
	const sample: { readonly row: number; readonly datasetId: string }[] = [];
	let count = 0;
	let taggedDataset: string | undefined;
	const confirmed = async function* (): AsyncGenerator<InDataset> {
		for await (const written of writtenRows(run)) {
			if (!isConfirmed(written)) continue;
			const { row, datasetId, write, metadata } = written;
			count += 1;
			if (write === "update" || metadata.size > 0) taggedDataset ??= datasetId;
			// Each row is in the sample with the same probability (Vitter's algorithm R).
			const place = count <= SAMPLE_ROWS ? count - 1 : Math.floor(random() * count);
			if (mode === "sample" && place < SAMPLE_ROWS) sample[place] = { row, datasetId };
			yield { datasetId };
		}
	};
	const byDataset = await rowsByDataset(confirmed());
	const written = countWritten(run.state.totals());
	const facts = { taggedDataset, written, unrecorded: written - count };
	if (mode === "all") return { ...facts, count, has: () => true, byDataset };
	const rows = new Set(sample.map(({ row }) => row));
	return { ...facts, count: rows.size, has: (row) => rows.has(row), byDataset: await rowsByDataset(sample) };
}
