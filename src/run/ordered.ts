/**
 * Works on `size` items at a time, and gives the results in the order of the items. Items are read no faster than results
 * are taken.
 *
 * @throws what the items or the work threw, in its place among the results
 */
export async function* inOrder<Item, Result>(
	items: AsyncIterable<Item> | Iterable<Item>,
	work: (item: Item) => Promise<Result>,
	size: number,
): AsyncGenerator<Result> {
	const waiting: Promise<Result>[] = [];
	for await (const item of items) {
		const result = work(item);
		// It is awaited in its turn. Until then an unhandled rejection would end the process.
		result.catch(() => undefined);
		waiting.push(result);
		const [first] = waiting;
		if (waiting.length < size || first === undefined) continue;
		yield await first;
		void waiting.shift();
	}
	for (const result of waiting) yield await result;
}

/** The same items, each given when `expect` had it and the next ones, `size` at a time. */
export async function* announced<Item>(
	items: AsyncIterable<Item>,
	size: number,
	expect: (next: readonly Item[]) => void,
): AsyncGenerator<Item> {
	let next: Item[] = [];
	for await (const item of items) {
		if (next.push(item) < size) continue;
		expect(next);
		yield* next;
		next = [];
	}
	expect(next);
	yield* next;
}
