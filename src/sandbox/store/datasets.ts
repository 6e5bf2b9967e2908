import type { Window } from "../query.ts";
import type { Changes } from "./changes.ts";
import type { Database, Statement } from "./database.ts";
import { alike } from "./alike.ts";
import { integerColumn, textColumn } from "./rows.ts";

/** A dataset as the documentation gives it. */
export type WireDataset = { readonly id: string; readonly name: string; readonly document_count?: number };

/** A dataset as the store knows it: `seq` is what its documents refer to. */
export type StoredDataset = { readonly seq: number; readonly documentCount: number };

type Filter = {
	readonly id?: string | undefined;
	readonly name?: string | undefined;
	/** a name that the database takes for theirs */
	readonly like?: string | undefined;
	readonly window: Window;
};

export class Datasets {
	readonly #changes: Changes;
	readonly #find: Statement;
	readonly #insert: Statement;
	readonly #rename: Statement;
	readonly #remove: Statement;
	readonly #count: Statement;
	readonly #list: Statement;
	readonly #newestFirst: Statement;
	readonly #total: Statement;

	constructor(database: Database, changes: Changes) {
		this.#changes = changes;
		this.#find = database.prepare("SELECT seq, document_count FROM datasets WHERE id = ?");
		this.#insert = database.prepare("INSERT INTO datasets (id, name, name_key) VALUES (?, ?, ?)");
		this.#rename = database.prepare("UPDATE datasets SET name = ?, name_key = ? WHERE id = ?");
		this.#remove = database.prepare("DELETE FROM datasets WHERE seq = ?");
		this.#count = database.prepare("UPDATE datasets SET document_count = document_count + ? WHERE seq = ?");
		const select =
			"SELECT id, name, document_count FROM datasets WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR name = ?2) " +
			"AND (?3 IS NULL OR name_key = ?3)";
		this.#list = database.prepare(`${select} ORDER BY seq LIMIT ?4 OFFSET ?5`);
		this.#total = database.prepare("SELECT count(*) AS total FROM datasets");
		this.#newestFirst = database.prepare(`${select} ORDER BY seq DESC LIMIT ?4 OFFSET ?5`);
	}

	find(id: string): StoredDataset | undefined {
		const row = this.#find.get(id);
		if (row === undefined) return undefined;
		return { seq: integerColumn(row, "seq"), documentCount: integerColumn(row, "document_count") };
	}

	insert(id: string, name: string): void {
		this.#insert.run(id, name, alike(name));
		this.#changes.note({ action: "create", dataset: id, name });
	}

	rename(id: string, name: string): void {
		this.#rename.run(name, alike(name), id);
	}

	/** Its documents are removed before. */
	remove(seq: number): void {
		this.#remove.run(seq);
	}

	/** Kept beside the documents, because counting a million of them for every page would cost more than the page. */
	addToCount(seq: number, documents: number): void {
		this.#count.run(documents, seq);
	}

	list(filter: Filter): WireDataset[] {
		return this.#list.all(...valuesOf(filter)).map(wireDataset);
	}

	newestFirst(filter: Filter): WireDataset[] {
		return this.#newestFirst.all(...valuesOf(filter)).map(wireDataset);
	}

	count(): number {
		return integerColumn(this.#total.get(), "total");
	}
}

function valuesOf({ id, name, like, window }: Filter): (string | number | null)[] {
	return [id ?? null, name ?? null, like === undefined ? null : alike(like), window.limit, window.offset];
}

function wireDataset(row: unknown): WireDataset {
	return {
		id: textColumn(row, "id"),
		name: textColumn(row, "name"),
		document_count: integerColumn(row, "document_count"),
	};
}
