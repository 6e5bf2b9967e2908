import { setImmediate as nextTurn } from "node:timers/promises";
import type { Ties } from "../options.ts";
import { collationKey } from "./collation.ts";
import { type Database, integerColumn, type Statement, textColumn } from "./database.ts";
import type { StoredDataset } from "./datasets.ts";
import type { Store } from "./index.ts";

/** Documents on a page when the request does not say. */
export const defaultPageSize = 30;

export type PageWindow = { readonly limit: number; readonly offset: number };
export type SortKey = "create_time" | "update_time" | "name_key" | "size" | "id";
export type Order = { readonly by: SortKey; readonly descending: boolean };

/** One document, or the documents of a name: of exactly this name, or of all names that are equal by the collation. */
export type Exact = {
	readonly id: string | undefined;
	readonly name: string | undefined;
	readonly byCollation?: boolean;
};

/** A filter that only code can apply: whether the row of a document passes. */
export type RowFilter = (row: unknown) => boolean;

export type Search = {
	readonly exact: Exact;
	/** the documents that are searched; undefined for all */
	readonly ids?: ReadonlySet<string> | undefined;
	readonly order: Order;
	readonly matches: RowFilter | undefined;
	readonly window: PageWindow;
	readonly ties: Ties;
};

/** `total` counts all documents that were found, `rows` are those of the page. */
export type Page = { readonly total: number; readonly rows: readonly unknown[] };

/**
 * One page of the documents that a search finds.
 *
 * Where ties are unstable, each even page begins with the last document of the page before, if both have the same sort
 * key. So one document is shown twice and another not at all, as happens with servers that sort by time alone. It is
 * always the same one for a direction and a page size, so that a test can rely on it; another size shows it.
 */
export async function findPage(store: Store, dataset: StoredDataset, search: Search): Promise<Page> {
	const { limit, offset } = search.window;
	const even = (offset / limit) % 2 === 1;
	if (search.ties === "stable" || !even) return readWindow(store, dataset, search);
	const wider = { limit: limit + 1, offset: offset - 1 };
	const { total, rows } = await readWindow(store, dataset, { ...search, window: wider });
	const [before, first, ...rest] = rows;
	if (first === undefined) return { total, rows: [] };
	const tied = sortValue(before, search.order) === sortValue(first, search.order);
	return { total, rows: [tied ? before : first, ...rest] };
}

async function readWindow(store: Store, dataset: StoredDataset, search: Search): Promise<Page> {
	const { matches, ids, window } = search;
	if (matches === undefined && ids === undefined) return store.pages.read(dataset, search);
	const seqs = await matchingSeqs(store, dataset.seq, search);
	return { total: seqs.length, rows: store.pages.rowsOf(seqs.slice(window.offset, window.offset + window.limit)) };
}

/** The `seq` of all documents that match, in the order of the search. */
async function matchingSeqs(
	store: Store,
	dataset: number,
	{ exact, ids, order, matches }: Pick<Search, "exact" | "ids" | "order" | "matches">,
): Promise<number[]> {
	const found: { seq: number; key: string | number }[] = [];
	for await (const rows of ids === undefined ? scan(store, dataset) : [store.pages.ofIds(dataset, ids)]) {
		for (const row of rows) {
			if (exact.id !== undefined && textColumn(row, "id") !== exact.id) continue;
			if (exact.name !== undefined && !isNamed(row, exact.name, exact.byCollation === true)) continue;
			if (matches?.(row) !== false) found.push({ seq: integerColumn(row, "seq"), key: sortValue(row, order) });
		}
	}
	// The scan is in the order of creation.
	if (order.by !== "create_time") found.sort((left, right) => compare(left.key, right.key) || left.seq - right.seq);
	if (order.descending) found.reverse();
	return found.map(({ seq }) => seq);
}

/** Documents read before other requests get their turn: about ten milliseconds of work. */
const scanBatch = 2000;

/** All documents of a dataset in the order of creation, in batches. Other requests run in between. */
export async function* scan(store: Store, dataset: number): AsyncGenerator<readonly unknown[]> {
	let rows = store.pages.after(dataset, 0, scanBatch);
	while (rows.length > 0) {
		yield rows;
		const last = integerColumn(rows.at(-1), "seq");
		await nextTurn();
		store.commits.flush();
		rows = store.pages.after(dataset, last, scanBatch);
	}
}

function isNamed(row: unknown, name: string, byCollation: boolean): boolean {
	return byCollation ? textColumn(row, "name_key") === collationKey(name) : textColumn(row, "name") === name;
}

function sortValue(row: unknown, { by }: Order): string | number {
	return by === "name_key" || by === "id" ? textColumn(row, by) : integerColumn(row, by);
}

function compare(left: string | number, right: string | number): number {
	if (left === right) return 0;
	return left < right ? -1 : 1;
}

const columns = "seq, id, name, name_key, size, create_time, update_time, meta_fields";

/** Page starts remembered: enough for every page of the largest dataset, in a few megabytes. */
const startsLimit = 50_000;

/** Reads pages of a dataset's documents, in an order without ties: by a column, and then by creation. */
export class Pages {
	readonly #database: Database;
	readonly #after: Statement;
	readonly #statements = new Map<string, Statement>();
	/** the document before an offset, in the order of creation: so that the next page skips no rows again */
	readonly #starts = new Map<string, number>();

	constructor(database: Database) {
		this.#database = database;
		this.#after = database.prepare(
			`SELECT ${columns} FROM documents WHERE dataset = ? AND seq > ? ORDER BY seq LIMIT ?`,
		);
	}

	/** A page by id, by name, or of the whole dataset. `matches` and `ties` of a search are not applied here. */
	read(
		{ seq: dataset, documentCount: total }: StoredDataset,
		search: Pick<Search, "exact" | "order" | "window">,
	): Page {
		const { exact, order } = search;
		const { limit, offset } = search.window;
		if (exact.id !== undefined || exact.name !== undefined) {
			const name = exact.byCollation === true && exact.name !== undefined ? collationKey(exact.name) : exact.name;
			const values = [dataset, exact.id, name].filter((value) => value !== undefined);
			const found = this.#select(exact, order, "").all(...values);
			return { total: found.length, rows: found.slice(offset, offset + limit) };
		}
		if (offset >= total) return { total, rows: [] };
		const whole = this.#select(exact, order, "LIMIT ? OFFSET ?");
		if (order.by !== "create_time" || order.descending) return { total, rows: whole.all(dataset, limit, offset) };
		const start = this.#starts.get(`${dataset}:${offset}`);
		const rows = start === undefined ? whole.all(dataset, limit, offset) : this.#after.all(dataset, start, limit);
		if (this.#starts.size >= startsLimit) this.#starts.clear();
		if (rows.length > 0) this.#starts.set(`${dataset}:${offset + rows.length}`, integerColumn(rows.at(-1), "seq"));
		return { total, rows };
	}

	/** The documents after `seq`, in the order of creation. */
	after(dataset: number, seq: number, limit: number): readonly unknown[] {
		return this.#after.all(dataset, seq, limit);
	}

	/** The documents of a dataset with these ids, in the order of creation. */
	ofIds(dataset: number, ids: ReadonlySet<string>): readonly unknown[] {
		const one = this.#prepared(`SELECT ${columns} FROM documents WHERE dataset = ? AND id = ?`);
		const rows = [...ids].map((id) => one.get(dataset, id)).filter((row) => row !== undefined);
		return rows.sort((left, right) => integerColumn(left, "seq") - integerColumn(right, "seq"));
	}

	/** The documents with these `seq`, in the given order, without those that were removed meanwhile. */
	rowsOf(seqs: readonly number[]): unknown[] {
		const one = this.#prepared(`SELECT ${columns} FROM documents WHERE seq = ?`);
		return seqs.map((seq) => one.get(seq)).filter((row) => row !== undefined);
	}

	/** Called after every removal, which moves offsets. A new document comes at the end and moves none. */
	forgetStarts(): void {
		this.#starts.clear();
	}

	#select(exact: Exact, { by, descending }: Order, window: string): Statement {
		const direction = descending ? "DESC" : "ASC";
		const order = by === "create_time" ? `seq ${direction}` : `${by} ${direction}, seq ${direction}`;
		const id = exact.id === undefined ? "" : "AND id = ?";
		const name = exact.name === undefined ? "" : `AND ${exact.byCollation === true ? "name_key" : "name"} = ?`;
		return this.#prepared(
			`SELECT ${columns} FROM documents WHERE dataset = ? ${id} ${name} ORDER BY ${order} ${window}`,
		);
	}

	#prepared(text: string): Statement {
		const statement = this.#statements.get(text) ?? this.#database.prepare(text);
		this.#statements.set(text, statement);
		return statement;
	}
}
