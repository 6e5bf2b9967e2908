/** How many rows each dataset has, as far as a decision needs it. */
export type RowCounts = {
	/** whether the dataset has at least so many rows */
	reaches(datasetId: string, rows: number): Promise<boolean> | boolean;
};

/** A row, as far as it is counted. */
type Counted = { readonly datasetId: string };

/** @param most rows that there can be: a run that goes on has fewer than were counted */
export function knownCounts(
	counts: Pick<ReadonlyMap<string, number>, "get">,
	most = Number.POSITIVE_INFINITY,
): RowCounts {
	return { reaches: (datasetId, rows) => Math.min(most, counts.get(datasetId) ?? 0) >= rows };
}

/** The number of rows of each dataset. */
export async function rowsByDataset(
	rows: AsyncIterable<Counted> | Iterable<Counted>,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for await (const { datasetId } of rows) counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
	return counts;
}
