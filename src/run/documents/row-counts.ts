/** How many rows each dataset has, as far as a decision needs it. */
export type RowCounts = {
	/** whether the dataset has at least so many rows */
	reaches(datasetId: string, rows: number): Promise<boolean> | boolean;
};

/** A row, as far as it is counted. */
type Counted = { readonly datasetId: string };

/** Rows that the first reading counts. Most decisions need fewer. */
const FIRST_READING = 1_000;

/** How much longer each reading is than the one before it was, so that all of them together are hardly longer than the last. */
const LONGER = 4;

/** Counts that are known. */
export function knownCounts(counts: Pick<ReadonlyMap<string, number>, "get">): RowCounts {
	return { reaches: (datasetId, rows) => (counts.get(datasetId) ?? 0) >= rows };
}

/** The number of rows of each dataset. */
export async function rowsByDataset(
	rows: AsyncIterable<Counted> | Iterable<Counted>,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for await (const { datasetId } of rows) counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
	return counts;
}

/**
 * Counts rows by reading them, and reads no more of them than a decision needs: whether a dataset is listed is nearly always
 * known after its first thousand rows.
 */
export class CountedRows implements RowCounts {
	readonly #read: () => AsyncIterable<Counted>;
	readonly #most: number;
	#counts: ReadonlyMap<string, number> = new Map();
	#isWhole = false;
	#length = FIRST_READING;
	#reading: Promise<void> | undefined;

	/**
	 * @param read the rows, from the first one
	 * @param most rows that there can be
	 */
	constructor(read: () => AsyncIterable<Counted>, most: number = Number.POSITIVE_INFINITY) {
		this.#read = read;
		this.#most = most;
	}

	async reaches(datasetId: string, rows: number): Promise<boolean> {
		const has = (): boolean => (this.#counts.get(datasetId) ?? 0) >= rows;
		while (!has() && !this.#isWhole) {
			// No manifest has that many, so none must be read.
			if (rows === Number.POSITIVE_INFINITY || rows > this.#most) return false;
			await (this.#reading ??= this.#count(datasetId, rows).finally(() => (this.#reading = undefined)));
		}
		return has();
	}

	async #count(wanted: string, rows: number): Promise<void> {
		const counts = new Map<string, number>();
		let read = 0;
		let isWhole = true;
		for await (const { datasetId } of this.#read()) {
			counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
			read += 1;
			if (read < this.#length || (counts.get(wanted) ?? 0) < rows) continue;
			isWhole = read === this.#most;
			break;
		}
		this.#length = LONGER * Math.max(this.#length, read);
		this.#counts = counts;
		this.#isWhole = isWhole;
	}
}
