import { setImmediate as nextTurn } from "node:timers/promises";
import type { Window } from "./query.ts";
import type { Ties } from "./settings.ts";
import type { StoredDataset } from "./store/datasets.ts";
import type { Store } from "./store/index.ts";
import type { Exact, Order, Rows } from "./store/pages.ts";
import { alike } from "./store/alike.ts";
import { integerColumn, textColumn } from "./store/rows.ts";

/** Documents looked at before other requests get their turn: some ten milliseconds of work. */
const scanBatch = 2000;

/** What only a look at each document can tell. */
export type Matches = (row: unknown) => boolean;

export type Search = {
	readonly exact: Exact;
	readonly order: Order;
	readonly matches: Matches | undefined;
	readonly window: Window;
	readonly ties: Ties;
};

/**
 * One page of what is searched for.
 *
 * Where ties are unstable, each even page begins with the last document of the page before, if the two have the same
 * sort key: so one document is shown twice and another not at all, as it happens with servers that sort by time alone.
 * It is always the same one for a direction and a page size, so that a test can count on it; another size shows it.
 */
export async function findDocuments(store: Store, dataset: StoredDataset, search: Search): Promise<Rows> {
	const { limit, offset } = search.window;
	const even = (offset / limit) % 2 === 1;
	if (search.ties === "stable" || !even) return readWindow(store, dataset, search);
	const wider = { limit: limit + 1, offset: offset - 1 };
	const { total, rows } = await readWindow(store, dataset, { ...search, window: wider });
	const [before, first, ...rest] = rows;
	if (first === undefined) return { total, rows: [] };
	const tied = sortKey(before, search.order) === sortKey(first, search.order);
	return { total, rows: [tied ? before : first, ...rest] };
}

async function readWindow(store: Store, dataset: StoredDataset, search: Search): Promise<Rows> {
	const { exact, order, matches, window } = search;
	if (matches === undefined) return store.pages.read(dataset.seq, dataset.documentCount, exact, order, window);
	const seqs = await scan(store, dataset.seq, { exact, order, matches });
	return { total: seqs.length, rows: store.pages.pick(seqs.slice(window.offset, window.offset + window.limit)) };
}

/** The `seq` of all documents that match, in the order asked for. */
async function scan(
	store: Store,
	dataset: number,
	{ exact, order, matches }: { exact: Exact; order: Order; matches: Matches },
): Promise<number[]> {
	const found: { seq: number; key: string | number }[] = [];
	let rows = store.pages.after(dataset, 0, scanBatch);
	while (rows.length > 0) {
		for (const row of rows) {
			if (exact.id !== undefined && textColumn(row, "id") !== exact.id) continue;
			if (exact.name !== undefined && !isNamed(row, exact.name, exact.alike === true)) continue;
			if (matches(row)) found.push({ seq: integerColumn(row, "seq"), key: sortKey(row, order) });
		}
		const last = integerColumn(rows.at(-1), "seq");
		await nextTurn();
		store.commits.flush();
		rows = store.pages.after(dataset, last, scanBatch);
	}
	// Those of the order of creation come in that order.
	if (order.by !== "create_time") found.sort((left, right) => compare(left.key, right.key) || left.seq - right.seq);
	if (order.descending) found.reverse();
	return found.map(({ seq }) => seq);
}

function isNamed(row: unknown, name: string, likewise: boolean): boolean {
	return likewise ? textColumn(row, "name_key") === alike(name) : textColumn(row, "name") === name;
}

function sortKey(row: unknown, { by }: Order): string | number {
	return by === "name_key" || by === "id" ? textColumn(row, by) : integerColumn(row, by);
}

function compare(left: string | number, right: string | number): number {
	if (left === right) return 0;
	return left < right ? -1 : 1;
}
