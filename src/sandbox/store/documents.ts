import { collationKey } from "./collation.ts";
import { type Database, type Statement, textColumn } from "./database.ts";
import type { Changes } from "./writes.ts";

/** Bytes of a document's name: what file systems allow for a file name. */
export const documentNameLimit = 255;

export type NewDocument = { readonly id: string; readonly name: string; readonly size: number };

/** Writes of documents, and reads of one. Each is one indexed statement, because tests send updates by the million. */
export class Documents {
	readonly #changes: Changes;
	readonly #insert: Statement;
	readonly #replaceMetadata: Statement;
	readonly #metadata: Statement;
	readonly #allMetadata: Statement;
	readonly #row: Statement;
	readonly #rename: Statement;
	readonly #namesWithKey: Statement;
	readonly #ids: Statement;
	readonly #datasetOf: Statement;
	readonly #datasetId: Statement;
	readonly #remove: Statement;
	readonly #removeAll: Statement;
	readonly #addBytes: Statement;
	readonly #bytes: Statement;
	readonly #removeBytes: Statement;
	readonly #removeAllBytes: Statement;
	/** A file may have metadata from an earlier start. */
	#hasUnindexed = true;

	constructor(database: Database, changes: Changes) {
		this.#changes = changes;
		this.#insert = database.prepare(
			"INSERT INTO documents (dataset, id, name, size, create_time, update_time, meta_fields, name_key) " +
				"VALUES (?, ?, ?, ?, ?, ?, '{}', ?)",
		);
		// The + before the column keeps SQLite from using its index, so that it searches the unique index on the id.
		const where = "WHERE id = ? AND +dataset = (SELECT seq FROM datasets WHERE id = ?)";
		this.#replaceMetadata = database.prepare(`UPDATE documents SET meta_fields = ?, update_time = ? ${where}`);
		this.#metadata = database.prepare(`SELECT meta_fields FROM documents ${where}`);
		this.#allMetadata = database.prepare(
			"SELECT meta_fields FROM documents WHERE meta_fields <> '{}' ORDER BY update_time, seq",
		);
		this.#remove = database.prepare(`DELETE FROM documents ${where}`);
		this.#row = database.prepare("SELECT * FROM documents WHERE id = ?");
		this.#rename = database.prepare("UPDATE documents SET name = ?, name_key = ?, update_time = ? WHERE id = ?");
		this.#namesWithKey = database.prepare("SELECT name FROM documents WHERE dataset = ? AND name_key = ?");
		this.#ids = database.prepare("SELECT id FROM documents WHERE dataset = ? ORDER BY seq");
		this.#datasetOf = database.prepare(
			"SELECT datasets.id FROM documents JOIN datasets ON datasets.seq = documents.dataset WHERE documents.id = ?",
		);
		this.#datasetId = database.prepare("SELECT id FROM datasets WHERE seq = ?");
		this.#removeAll = database.prepare("DELETE FROM documents WHERE dataset = ?");
		this.#addBytes = database.prepare("INSERT INTO chunks (document, position, bytes) VALUES (?, ?, ?)");
		this.#bytes = database.prepare("SELECT hex(bytes) AS digits FROM chunks WHERE document = ? ORDER BY position");
		this.#removeBytes = database.prepare("DELETE FROM chunks WHERE document = ?");
		this.#removeAllBytes = database.prepare(
			"DELETE FROM chunks WHERE document IN (SELECT id FROM documents WHERE dataset = ?)",
		);
	}

	/** `time` is the time of creation in milliseconds: one for all documents of a request. */
	insert(dataset: number, document: NewDocument, time: number): void {
		const { id, name, size } = document;
		this.#insert.run(dataset, id, name, size, time, time, collationKey(name));
		if (!this.#changes.observed) return;
		const change = { dataset: this.#idOf(dataset), document: id, name };
		this.#changes.report({ action: "upload", ...change });
	}

	/**
	 * @param isIndexed whether the search engine knows these metadata
	 * @returns false where the dataset has no such document
	 */
	replaceMetadata(dataset: string, id: string, metadata: string, isIndexed = false): boolean {
		if (!isIndexed) this.#hasUnindexed = true;
		if (!this.#changes.observed) return this.#replaceMetadata.run(metadata, Date.now(), id, dataset).changes > 0;
		const before = this.metadata(dataset, id);
		if (before === undefined) return false;
		const stored = this.#changes.alterMetadata(metadata);
		this.#replaceMetadata.run(stored, Date.now(), id, dataset);
		this.#changes.report({ action: "update", dataset, document: id, before, metadata: stored });
		return true;
	}

	/** The JSON text of a document's metadata. */
	metadata(dataset: string, id: string): string | undefined {
		const row = this.#metadata.get(id, dataset);
		return row === undefined ? undefined : textColumn(row, "meta_fields");
	}

	/** All metadata in the order of their writes, if some of them are not indexed; they count as indexed then. */
	takeUnindexed(): string[] {
		if (!this.#hasUnindexed) return [];
		this.#hasUnindexed = false;
		return this.#allMetadata.all().map((row) => textColumn(row, "meta_fields"));
	}

	rename(id: string, name: string): void {
		this.#rename.run(name, collationKey(name), Date.now(), id);
	}

	nameOf(id: string): string | undefined {
		const row = this.row(id);
		return row === undefined ? undefined : textColumn(row, "name");
	}

	/** The names in a dataset that are equal to this one by the database's collation. */
	equalNames(dataset: number, name: string): string[] {
		return this.#namesWithKey.all(dataset, collationKey(name)).map((row) => textColumn(row, "name"));
	}

	/** A document with all its columns. */
	row(id: string): unknown {
		return this.#row.get(id);
	}

	ids(dataset: number): string[] {
		return this.#ids.all(dataset).map((row) => textColumn(row, "id"));
	}

	/** The id of the dataset that contains a document. */
	datasetOf(id: string): string | undefined {
		const row = this.#datasetOf.get(id);
		return row === undefined ? undefined : textColumn(row, "id");
	}

	remove(dataset: string, id: string): boolean {
		if (this.#remove.run(id, dataset).changes === 0) return false;
		this.#removeBytes.run(id);
		this.#changes.report({ action: "remove", dataset, document: id });
		return true;
	}

	/** Removes every document of a dataset, and returns how many they were. */
	removeAll(dataset: number): number {
		if (this.#changes.observed) {
			const id = this.#idOf(dataset);
			for (const document of this.ids(dataset)) this.#changes.report({ action: "remove", dataset: id, document });
		}
		this.#removeAllBytes.run(dataset);
		return this.#removeAll.run(dataset).changes;
	}

	addBytes(id: string, position: number, bytes: Buffer): void {
		this.#addBytes.run(id, position, bytes);
	}

	/** All bytes of a document. The database returns them as hexadecimal digits, because the package returns no bytes. */
	bytes(id: string): Buffer {
		return Buffer.concat(this.#bytes.all(id).map((row) => Buffer.from(textColumn(row, "digits"), "hex")));
	}

	removeBytes(id: string): void {
		this.#removeBytes.run(id);
	}

	#idOf(dataset: number): string {
		return textColumn(this.#datasetId.get(dataset), "id");
	}
}
