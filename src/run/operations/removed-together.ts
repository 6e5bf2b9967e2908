import type { Api } from "../../rest/types.ts";
import { documentPages } from "../documents/list.ts";
import { PAGE_SIZE } from "../documents/pages.ts";
import type { Request } from "../types.ts";

/** Documents of a dataset whose list confirms removals, at most: some 300 rows can wait, and its list has 150 pages. */
const MOST_DOCUMENTS = 15_000;

type Dataset = {
	/** documents that it had when the run listed it */
	readonly size: number;
	/** documents whose removal was sent, and may have been applied */
	readonly removed: Set<string>;
	/** removals in flight: they move the pages of a list */
	inFlight: number;
	/** ids whose removal was answered with success, and which no list was asked about since */
	readonly waiting: Set<string>;
	/** ids that such a list lacks */
	readonly gone: Set<string>;
	reading: Promise<void> | undefined;
	/** called when no removal is in flight */
	onQuiet: (() => void) | undefined;
};

/**
 * Confirms the removals of many rows by one list of their dataset, where that costs fewer requests than one for each.
 *
 * A list is a proof only if nothing of this run changes the dataset while it is read, if it is whole, and if it shows no fewer
 * documents than must be left. Otherwise each row is asked for alone.
 */
export class RemovedTogether {
	readonly #sizeOf: (datasetId: string) => number | undefined;
	readonly #datasets = new Map<string, Dataset>();

	/** @param sizeOf the documents that a dataset had when the run listed it; undefined where it was not listed */
	constructor(sizeOf: (datasetId: string) => number | undefined) {
		this.#sizeOf = sizeOf;
	}

	/** Sends a removal, when no list of its dataset is being read. */
	async send(datasetId: string, removal: () => Promise<void>): Promise<void> {
		const dataset = this.#dataset(datasetId);
		if (dataset === undefined) return removal();
		while (dataset.reading !== undefined) await dataset.reading;
		dataset.inFlight += 1;
		try {
			await removal();
		} finally {
			dataset.inFlight -= 1;
			if (dataset.inFlight === 0) dataset.onQuiet?.();
		}
	}

	/** A removal may have been applied. */
	arrived(datasetId: string, id: string): void {
		this.#dataset(datasetId)?.removed.add(id);
	}

	/** Whether the row of a removal that was answered with success is to wait for others: `isGone` confirms them together. */
	waits(datasetId: string, id: string): boolean {
		const dataset = this.#dataset(datasetId);
		if (dataset === undefined) return false;
		dataset.waiting.add(id);
		return true;
	}

	/** Whether a list that was read after the removal lacks the document; false where no list can say it. */
	async isGone(api: Api, request: Request, datasetId: string, id: string): Promise<boolean> {
		const dataset = this.#dataset(datasetId);
		if (dataset === undefined) return false;
		while (dataset.waiting.has(id) || dataset.reading !== undefined) {
			dataset.reading ??= read(dataset, api, request, datasetId).finally(() => (dataset.reading = undefined));
			await dataset.reading;
		}
		return dataset.gone.delete(id);
	}

	#dataset(datasetId: string): Dataset | undefined {
		const known = this.#datasets.get(datasetId);
		if (known !== undefined) return known;
		const size = this.#sizeOf(datasetId);
		if (size === undefined || size > MOST_DOCUMENTS) return undefined;
		const [removed, waiting, gone] = [new Set<string>(), new Set<string>(), new Set<string>()];
		const dataset = { size, removed, inFlight: 0, waiting, gone, reading: undefined, onQuiet: undefined };
		this.#datasets.set(datasetId, dataset);
		return dataset;
	}
}

/** Pages of its list now, the one that ends it included. */
function pagesOf({ size, removed }: Pick<Dataset, "size" | "removed">): number {
	return Math.floor(Math.max(0, size - removed.size) / PAGE_SIZE) + 1;
}

/** Reads the list, and notes which of the waiting documents it lacks. Never rejects: what fails is asked for alone. */
async function read(dataset: Dataset, api: Api, request: Request, datasetId: string): Promise<void> {
	if (dataset.inFlight > 0) await new Promise<void>((resolve) => (dataset.onQuiet = resolve));
	const missing = new Set(dataset.waiting);
	dataset.waiting.clear();
	if (missing.size <= pagesOf(dataset)) return;
	let shown = 0;
	let isWhole = true;
	try {
		for await (const page of documentPages(api, request, datasetId, { onShort: () => (isWhole = false) })) {
			shown += page.length;
			for (const { id } of page) missing.delete(id);
		}
	} catch {
		return;
	}
	// Fewer documents than must be left: others were removed meanwhile, or the list is not to be believed.
	if (!isWhole || shown < dataset.size - dataset.removed.size) return;
	for (const id of missing) dataset.gone.add(id);
}
