/** What the first page of a list tells of the whole of it. */
export type ListSize = {
	/** documents by the service's account; undefined where it gives none */
	readonly total: number | undefined;
	/** entries asked for in a page; undefined where the service has its own way */
	readonly asked: number | undefined;
	/** entries that came */
	readonly came: number;
};

/**
 * Whether what is left of a list costs fewer requests than one look-up for each row. Pure.
 *
 * A list ends with a page that brings nothing new, so it costs one more than its documents fill. As many requests are no
 * reason to list: what is looked up is newer.
 */
export function isListingCheaper(rows: number, { total, asked, came }: ListSize): boolean {
	// Its length is not known, and may be that of a list without end.
	if (total === undefined || came === 0) return false;
	// A page that is shorter than was asked for, with more to come, shows what the service really gives.
	const size = asked === undefined || came < total ? came : asked;
	const left = Math.ceil(Math.max(total, came) / size);
	return left < rows;
}

/** How many rows each dataset has. */
export async function rowsByDataset(
	rows: AsyncIterable<{ readonly datasetId: string }>,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for await (const { datasetId } of rows) counts.set(datasetId, (counts.get(datasetId) ?? 0) + 1);
	return counts;
}
