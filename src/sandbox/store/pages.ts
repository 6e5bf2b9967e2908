import type { Window } from "../query.ts";
import type { Database, Statement } from "./database.ts";
import { alike } from "./alike.ts";
import { integerColumn } from "./rows.ts";

export type SortKey = "create_time" | "update_time" | "name_key" | "size" | "id";
export type Order = { readonly by: SortKey; readonly descending: boolean };

/** One document, or those of a name: of these very letters, or of all that the database takes for them. */
export type Exact = {
	readonly id: string | undefined;
	readonly name: string | undefined;
	readonly alike?: boolean;
};

export type Rows = { readonly total: number; readonly rows: readonly unknown[] };

const columns = "seq, id, name, name_key, size, create_time, update_time, meta_fields";

/** Page starts remembered: enough for every page of the largest dataset, in a few megabytes. */
const startsLimit = 50_000;

/** Reads pages of a dataset's documents, in an order without ties: that of creation, or of another column and then creation. */
export class Pages {
	readonly #database: Database;
	readonly #after: Statement;
	readonly #statements = new Map<string, Statement>();
	/** The document before an offset, in order of creation: reading page after page then skips nothing again. */
	readonly #starts = new Map<string, number>();

	constructor(database: Database) {
		this.#database = database;
		this.#after = database.prepare(
			`SELECT ${columns} FROM documents WHERE dataset = ? AND seq > ? ORDER BY seq LIMIT ?`,
		);
	}

	/** `total` is the count of the whole dataset, which holds where there is no filter. */
	read(dataset: number, total: number, filter: Exact, order: Order, { limit, offset }: Window): Rows {
		if (filter.id !== undefined || filter.name !== undefined) {
			const name = filter.alike === true && filter.name !== undefined ? alike(filter.name) : filter.name;
			const values = [dataset, filter.id, name].filter((value) => value !== undefined);
			const found = this.#select(filter, order, "").all(...values);
			return { total: found.length, rows: found.slice(offset, offset + limit) };
		}
		if (offset >= total) return { total, rows: [] };
		if (order.by !== "create_time" || order.descending) {
			return { total, rows: this.#select(filter, order, "LIMIT ? OFFSET ?").all(dataset, limit, offset) };
		}
		const start = this.#starts.get(`${dataset}:${offset}`);
		const rows =
			start === undefined
				? this.#select(filter, order, "LIMIT ? OFFSET ?").all(dataset, limit, offset)
				: this.#after.all(dataset, start, limit);
		if (this.#starts.size >= startsLimit) this.#starts.clear();
		if (rows.length > 0) this.#starts.set(`${dataset}:${offset + rows.length}`, integerColumn(rows.at(-1), "seq"));
		return { total, rows };
	}

	/** The documents after `seq` in order of creation, for scans that let other requests in between. */
	after(dataset: number, seq: number, limit: number): readonly unknown[] {
		return this.#after.all(dataset, seq, limit);
	}

	/** The documents with these `seq`, in the order asked for, without those that are gone by now. */
	pick(seqs: readonly number[]): unknown[] {
		const one = this.#prepared(`SELECT ${columns} FROM documents WHERE seq = ?`);
		return seqs.map((seq) => one.get(seq)).filter((row) => row !== undefined);
	}

	/** Offsets have moved: called after every removal. Additions come at the end and move none. */
	forget(): void {
		this.#starts.clear();
	}

	#select(filter: Exact, { by, descending }: Order, window: string): Statement {
		const direction = descending ? "DESC" : "ASC";
		const order = by === "create_time" ? `seq ${direction}` : `${by} ${direction}, seq ${direction}`;
		const id = filter.id === undefined ? "" : "AND id = ?";
		const name = filter.name === undefined ? "" : `AND ${filter.alike === true ? "name_key" : "name"} = ?`;
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
