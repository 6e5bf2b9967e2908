import type { WireDataset } from "../../rest/wire.ts";
import type { Window } from "../query.ts";
import type { Changes } from "./changes.ts";
import type { Database, Statement } from "./database.ts";
import { integerColumn, textColumn } from "./rows.ts";

/** A dataset as the store knows it: `seq` is what its documents refer to. */
export type StoredDataset = { readonly seq: number; readonly documentCount: number };

type Filter = { readonly id?: string | undefined; readonly name?: string | undefined; readonly window: Window };

export class Datasets {
	readonly #changes: Changes;
	readonly #find: Statement;
	readonly #insert: Statement;
	readonly #count: Statement;
	readonly #list: Statement;
	readonly #newestFirst: Statement;
	readonly #total: Statement;

	constructor(database: Database, changes: Changes) {
		this.#changes = changes;
		this.#find = database.prepare("SELECT seq, document_count FROM datasets WHERE id = ?");
		this.#insert = database.prepare("INSERT INTO datasets (id, name) VALUES (?, ?)");
		this.#count = database.prepare("UPDATE datasets SET document_count = document_count + ? WHERE seq = ?");
		const select =
			"SELECT id, name, document_count FROM datasets WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR name = ?2) ";
		this.#list = database.prepare(`${select} ORDER BY seq LIMIT ?3 OFFSET ?4`);
		this.#total = database.prepare("SELECT count(*) AS total FROM datasets");
		this.#newestFirst = database.prepare(`${select} ORDER BY seq DESC LIMIT ?3 OFFSET ?4`);
	}

	find(id: string): StoredDataset | undefined {
		const row = this.#find.get(id);
		if (row === undefined) return undefined;
		return { seq: integerColumn(row, "seq"), documentCount: integerColumn(row, "document_count") };
	}

	insert(id: string, name: string): void {
		this.#insert.run(id, name);
		this.#changes.note({ action: "create", dataset: id, name });
	}

	/** Kept beside the documents, because counting a million of them for every page would cost more than the page. */
	addToCount(seq: number, documents: number): void {
		this.#count.run(documents, seq);
	}

	list({ id, name, window }: Filter): WireDataset[] {
		return this.#list.all(id ?? null, name ?? null, window.limit, window.offset).map(wireDataset);
	}

	newestFirst({ id, name, window }: Filter): WireDataset[] {
		return this.#newestFirst.all(id ?? null, name ?? null, window.limit, window.offset).map(wireDataset);
	}

	count(): number {
		return integerColumn(this.#total.get(), "total");
	}
}

function wireDataset(row: unknown): WireDataset {
	return {
		id: textColumn(row, "id"),
		name: textColumn(row, "name"),
		document_count: integerColumn(row, "document_count"),
	};
}
