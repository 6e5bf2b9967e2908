import type { Changes } from "./changes.ts";
import type { Database, Statement } from "./database.ts";
import { alike } from "./alike.ts";
import { integerColumn, textColumn } from "./rows.ts";

export type NewDocument = { readonly id: string; readonly name: string; readonly size: number };

/** Writes of documents. Each is one indexed statement: updates are what a sandbox is asked for by the million. */
export class Documents {
	readonly #changes: Changes;
	readonly #insert: Statement;
	readonly #replace: Statement;
	readonly #metadata: Statement;
	readonly #row: Statement;
	readonly #rename: Statement;
	readonly #like: Statement;
	readonly #ids: Statement;
	readonly #dataset: Statement;
	readonly #named: Statement;
	readonly #remove: Statement;
	readonly #removeAll: Statement;
	readonly #removeAllBytes: Statement;
	readonly #removeBytes: Statement;
	readonly #addBytes: Statement;
	readonly #bytes: Statement;

	readonly #datasetId: Statement;

	constructor(database: Database, changes: Changes) {
		this.#changes = changes;
		this.#datasetId = database.prepare("SELECT id FROM datasets WHERE seq = ?");
		this.#insert = database.prepare(
			"INSERT INTO documents (dataset, id, name, size, create_time, update_time, meta_fields, name_key) " +
				"VALUES (?1, ?2, ?3, ?4, ?5, ?5, '{}', ?6)",
		);
		// The dataset is compared with +, so that the unique index on the id is what is searched.
		const where = "WHERE id = ? AND +dataset = (SELECT seq FROM datasets WHERE id = ?)";
		this.#replace = database.prepare(`UPDATE documents SET meta_fields = ?, update_time = ? ${where}`);
		this.#metadata = database.prepare(`SELECT meta_fields FROM documents ${where}`);
		this.#row = database.prepare("SELECT * FROM documents WHERE id = ?");
		this.#rename = database.prepare("UPDATE documents SET name = ?, name_key = ?, update_time = ? WHERE id = ?");
		this.#like = database.prepare(
			"SELECT name FROM documents WHERE dataset = (SELECT seq FROM datasets WHERE id = ?) AND name_key = ?",
		);
		this.#ids = database.prepare(
			"SELECT id FROM documents WHERE dataset = (SELECT seq FROM datasets WHERE id = ?) ORDER BY seq",
		);
		this.#dataset = database.prepare(
			"SELECT datasets.id FROM documents JOIN datasets ON datasets.seq = documents.dataset WHERE documents.id = ?",
		);
		this.#named = database.prepare("SELECT 1 FROM documents WHERE dataset = ? AND name_key = ? LIMIT 1");
		this.#removeAll = database.prepare("DELETE FROM documents WHERE dataset = ?");
		this.#removeAllBytes = database.prepare(
			"DELETE FROM chunks WHERE document IN (SELECT id FROM documents WHERE dataset = ?)",
		);
		this.#remove = database.prepare(`DELETE FROM documents ${where}`);
		this.#removeBytes = database.prepare("DELETE FROM chunks WHERE document = ?");
		this.#bytes = database.prepare("SELECT hex(bytes) AS digits FROM chunks WHERE document = ? ORDER BY position");
		this.#addBytes = database.prepare("INSERT INTO chunks (document, position, bytes) VALUES (?, ?, ?)");
	}

	/** `time` is that of its creation, in milliseconds: one for all documents of a request. */
	insert(dataset: number, document: NewDocument, time: number): void {
		this.#insert.run(dataset, document.id, document.name, document.size, time, alike(document.name));
		if (!this.#changes.heard) return;
		const change = { dataset: this.#idOf(dataset), document: document.id, name: document.name };
		this.#changes.note({ action: "upload", ...change });
	}

	/** False where the dataset has no such document. */
	replaceMetadata(dataset: string, id: string, metadata: string): boolean {
		if (!this.#changes.heard) return this.#replace.run(metadata, Date.now(), id, dataset).changes > 0;
		const before = this.metadata(dataset, id);
		if (before === undefined) return false;
		const stored = this.#changes.alter(metadata);
		this.#replace.run(stored, Date.now(), id, dataset);
		this.#changes.note({ action: "update", dataset, document: id, before, metadata: stored });
		return true;
	}

	/** The JSON text of a document's metadata. */
	metadata(dataset: string, id: string): string | undefined {
		const row = this.#metadata.get(id, dataset);
		return row === undefined ? undefined : textColumn(row, "meta_fields");
	}

	rename(id: string, name: string): void {
		this.#rename.run(name, alike(name), Date.now(), id);
	}

	nameOf(id: string): string | undefined {
		const row = this.row(id);
		return row === undefined ? undefined : textColumn(row, "name");
	}

	/** The names in a dataset that the database takes for this one. */
	namesLike(dataset: string, name: string): string[] {
		return this.#like.all(dataset, alike(name)).map((row) => textColumn(row, "name"));
	}

	/** A document with all its columns. */
	row(id: string): unknown {
		return this.#row.get(id);
	}

	ids(dataset: string): string[] {
		return this.#ids.all(dataset).map((row) => textColumn(row, "id"));
	}

	/** The dataset that a document is in. */
	datasetOf(id: string): string | undefined {
		const row = this.#dataset.get(id);
		return row === undefined ? undefined : textColumn(row, "id");
	}

	/** Whether a dataset has a document whose name the database takes for this one. */
	hasNameLike(dataset: number, name: string): boolean {
		return this.#named.get(dataset, alike(name)) !== undefined;
	}

	/** Removes every document of a dataset, and says how many they were. */
	removeAll(dataset: number): number {
		if (this.#changes.heard) {
			const id = this.#idOf(dataset);
			for (const document of this.ids(id)) this.#changes.note({ action: "remove", dataset: id, document });
		}
		this.#removeAllBytes.run(dataset);
		return this.#removeAll.run(dataset).changes;
	}

	remove(dataset: string, id: string): boolean {
		if (this.#remove.run(id, dataset).changes === 0) return false;
		this.#removeBytes.run(id);
		this.#changes.note({ action: "remove", dataset, document: id });
		return true;
	}

	addBytes(id: string, position: number, bytes: Buffer): void {
		this.#addBytes.run(id, position, bytes);
	}

	/** All bytes of a document; as digits out of the database, whose package hands over no bytes. */
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

/** A document as a list shows it, as JSON text: its metadata is text already. */
export function documentText(row: unknown, dataset: string): string {
	const id = JSON.stringify(textColumn(row, "id"));
	const name = JSON.stringify(textColumn(row, "name"));
	const size = integerColumn(row, "size");
	const createTime = integerColumn(row, "create_time");
	const metadata = textColumn(row, "meta_fields");
	return (
		`{"id":${id},"dataset_id":${JSON.stringify(dataset)},"name":${name},"size":${size},` +
		`"create_time":${createTime},"meta_fields":${metadata}}`
	);
}
