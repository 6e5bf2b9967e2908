import { collationKey } from "./collation.ts";
import { type Database, integerColumn, type Statement, textColumn } from "./database.ts";
import type { PageWindow } from "./pages.ts";
import type { Changes } from "./writes.ts";

/** Characters of a dataset's name: the bound of deployed servers (service-api.md, section 2). */
export const datasetNameLimit = 128;

/** A dataset as the store refers to it: its documents have its `seq`. */
export type StoredDataset = { readonly seq: number; readonly documentCount: number };

/** A dataset as the documentation lists it. */
export type ListedDataset = { readonly id: string; readonly name: string; readonly document_count: number };

/** Which datasets; a member that is left out filters nothing. */
export type DatasetFilter = {
	readonly id?: string | undefined;
	readonly name?: string | undefined;
	/** a name that is equal to theirs by the database's collation */
	readonly nameByCollation?: string | undefined;
};

const firstOnly: PageWindow = { limit: 1, offset: 0 };

/** SQLite reads a negative limit as no limit. */
const unlimited: PageWindow = { limit: -1, offset: 0 };

export class Datasets {
	readonly #changes: Changes;
	readonly #find: Statement;
	readonly #insert: Statement;
	readonly #rename: Statement;
	readonly #remove: Statement;
	readonly #addToCount: Statement;
	readonly #listOldestFirst: Statement;
	readonly #listNewestFirst: Statement;
	readonly #count: Statement;

	constructor(database: Database, changes: Changes) {
		this.#changes = changes;
		this.#find = database.prepare("SELECT seq, document_count FROM datasets WHERE id = ?");
		this.#insert = database.prepare("INSERT INTO datasets (id, name, name_key) VALUES (?, ?, ?)");
		this.#rename = database.prepare("UPDATE datasets SET name = ?, name_key = ? WHERE id = ?");
		this.#remove = database.prepare("DELETE FROM datasets WHERE seq = ?");
		this.#addToCount = database.prepare("UPDATE datasets SET document_count = document_count + ? WHERE seq = ?");
		this.#count = database.prepare("SELECT count(*) AS total FROM datasets");
		const select =
			"SELECT id, name, document_count FROM datasets WHERE (? IS NULL OR id = ?) AND (? IS NULL OR name = ?) " +
			"AND (? IS NULL OR name_key = ?)";
		this.#listOldestFirst = database.prepare(`${select} ORDER BY seq LIMIT ? OFFSET ?`);
		this.#listNewestFirst = database.prepare(`${select} ORDER BY seq DESC LIMIT ? OFFSET ?`);
	}

	find(id: string): StoredDataset | undefined {
		const row = this.#find.get(id);
		if (row === undefined) return undefined;
		return { seq: integerColumn(row, "seq"), documentCount: integerColumn(row, "document_count") };
	}

	insert(id: string, name: string): void {
		this.#insert.run(id, name, collationKey(name));
		this.#changes.report({ action: "create", dataset: id, name });
	}

	rename(id: string, name: string): void {
		this.#rename.run(name, collationKey(name), id);
	}

	/** Removes a dataset whose documents were removed before. */
	remove(seq: number): void {
		this.#remove.run(seq);
	}

	/** The count is stored, because to count a million documents for every page would cost more than the page. */
	addToCount(seq: number, documents: number): void {
		this.#addToCount.run(documents, seq);
	}

	list(
		filter: DatasetFilter,
		window = unlimited,
		order: "oldest-first" | "newest-first" = "oldest-first",
	): ListedDataset[] {
		const statement = order === "oldest-first" ? this.#listOldestFirst : this.#listNewestFirst;
		const { id = null, name = null, nameByCollation } = filter;
		const nameKey = nameByCollation === undefined ? null : collationKey(nameByCollation);
		const values = [id, id, name, name, nameKey, nameKey];
		return statement.all(...values, window.limit, window.offset).map(listedDataset);
	}

	/** The oldest dataset that the filter finds. */
	first(filter: DatasetFilter): ListedDataset | undefined {
		return this.list(filter, firstOnly)[0];
	}

	count(): number {
		return integerColumn(this.#count.get(), "total");
	}
}

function listedDataset(row: unknown): ListedDataset {
	return {
		id: textColumn(row, "id"),
		name: textColumn(row, "name"),
		document_count: integerColumn(row, "document_count"),
	};
}
