import { isObject } from "../json-text.ts";
import { type Database, type Statement, textColumn } from "./database.ts";

/** How a document would be parsed; `config` is JSON text. */
export type ParserSettings = { readonly method: string; readonly config: string };

/** The first parser settings of every dataset of v0.21.1 (`get_parser_config` in api/utils/api_utils.py). */
const defaults: ParserSettings = {
	method: "naive",
	config: JSON.stringify({
		chunk_token_num: 512,
		delimiter: "\\n",
		html4excel: false,
		layout_recognize: "DeepDOC",
		raptor: { use_raptor: false },
		graphrag: { use_graphrag: false },
	}),
};

/** Parser settings of documents whose update has set some. The sandbox stores and shows them, and parses nothing. */
export class ParserSettingsTable {
	readonly #find: Statement;
	readonly #set: Statement;
	readonly #removeOrphans: Statement;

	constructor(database: Database) {
		this.#find = database.prepare("SELECT method, config FROM parsing WHERE document = ?");
		this.#set = database.prepare("INSERT OR REPLACE INTO parsing (document, method, config) VALUES (?, ?, ?)");
		this.#removeOrphans = database.prepare("DELETE FROM parsing WHERE document NOT IN (SELECT id FROM documents)");
	}

	of(document: string): ParserSettings {
		const row = this.#find.get(document);
		return row === undefined ? defaults : { method: textColumn(row, "method"), config: textColumn(row, "config") };
	}

	setMethod(document: string, method: string): void {
		this.#set.run(document, method, this.of(document).config);
	}

	/** Merges `config` into the present one, member by member. */
	setConfig(document: string, config: object): void {
		const { method, config: text } = this.of(document);
		const before: unknown = JSON.parse(text);
		this.#set.run(document, method, JSON.stringify({ ...(isObject(before) ? before : {}), ...config }));
	}

	/** Removes the settings of documents that were removed. */
	removeOrphans(): void {
		this.#removeOrphans.run();
	}
}
