import type { RecordedRun } from "../journal/reader.ts";
import { isWritten } from "../journal/row-states.ts";
import { rowsByDataset } from "../documents/cost.ts";
import { type WrittenRow, writtenRows } from "../recorded/recorded-rows.ts";

/** How much of a run is read back. */
export type VerifyMode = "sample" | "all";

/** Rows of a sample: where 1 % of all rows are lost, 300 of them show it with a certainty of 95 %. */
export const SAMPLE = 300;

/** Rows of a run that are to be read back. */
export type PickedRows = {
	readonly count: number;
	has(row: number): boolean;
	readonly byDataset: ReadonlyMap<string, number>;
	/** a dataset in which metadata was written; undefined where none was */
	readonly tagged: string | undefined;
	/** rows that were written, whether they are picked or not */
	readonly written: number;
	/** rows that were written and of which the record does not say what and where: a repair could not keep that */
	readonly unrecorded: number;
};

/** Whether a row reached its goal, by the service's word, and can be looked for. */
export function isConfirmed({ status, documentId }: WrittenRow): boolean {
	return isWritten(status) && documentId !== "";
}

/** @param random from 0 up to but not including 1 */
export async function pickRows(run: RecordedRun, mode: VerifyMode, random: () => number): Promise<PickedRows> {
	const { updated, uploaded, removed } = run.state.totals();
	const sample = new ReservoirSample<{ readonly row: number; readonly datasetId: string }>(SAMPLE, random);
	let count = 0;
	let tagged: string | undefined;
	const confirmed = async function* (): AsyncGenerator<{ readonly datasetId: string }> {
		for await (const written of writtenRows(run)) {
			if (!isConfirmed(written)) continue;
			const { row, datasetId, write, metadata } = written;
			count += 1;
			if (write === "update" || metadata.size > 0) tagged ??= datasetId;
			if (mode === "sample") sample.add({ row, datasetId });
			yield { datasetId };
		}
	};
	const byDataset = await rowsByDataset(confirmed());
	const all = { tagged, written: updated + uploaded + removed, unrecorded: updated + uploaded + removed - count };
	if (mode === "all") return { ...all, count, has: () => true, byDataset };
	const { items } = sample;
	const rows = new Set(items.map(({ row }) => row));
	return { ...all, count: items.length, has: (row) => rows.has(row), byDataset: countByDataset(items) };
}

export function countByDataset(rows: Iterable<{ readonly datasetId: string }>): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const { datasetId } of rows) counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
	return counts;
}

/**
 * So many of a stream of unknown length, each with the same chance.
 *
 * @param random from 0 up to but not including 1
 */
export class ReservoirSample<Item> {
	readonly #size: number;
	readonly #random: () => number;
	readonly #items: Item[] = [];
	#seen = 0;

	constructor(size: number, random: () => number) {
		this.#size = size;
		this.#random = random;
	}

	get items(): readonly Item[] {
		return this.#items;
	}

	add(item: Item): void {
		this.#seen += 1;
		// The n-th stands in for one of those that are held, with a chance of size in n.
		const place = this.#seen <= this.#size ? this.#seen - 1 : Math.floor(this.#random() * this.#seen);
		if (place < this.#size) this.#items[place] = item;
	}
}
