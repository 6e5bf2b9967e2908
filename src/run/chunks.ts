/** Groups rows into chunks of at most `size`, each turned into what the run works on. The last may be shorter. */
export async function* chunked<Row, Item>(
	rows: AsyncIterable<Row>,
	size: number,
	itemOf: (row: Row) => Item,
): AsyncGenerator<Item[]> {
	let chunk: Item[] = [];
	for await (const row of rows) {
		chunk.push(itemOf(row));
		if (chunk.length < size) continue;
		yield chunk;
		chunk = [];
	}
	if (chunk.length > 0) yield chunk;
}
