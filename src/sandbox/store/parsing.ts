import { isObject } from "../object.ts";
import type { Database, Statement } from "./database.ts";
import { textColumn } from "./rows.ts";

/** How a document would be taken apart, where an update has said so; JSON text of the settings. */
export type Parsing = { readonly method: string; readonly config: string };

/** What every dataset of v0.21.1 begins with (`get_parser_config` in api/utils/api_utils.py). */
const usual: Parsing = {
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

/** Settings of documents that the sandbox keeps for whoever sets them, and does nothing with. */
export class Parsings {
	readonly #find: Statement;
	readonly #set: Statement;
	readonly #forget: Statement;

	constructor(database: Database) {
		this.#find = database.prepare("SELECT method, config FROM parsing WHERE document = ?");
		this.#set = database.prepare("INSERT OR REPLACE INTO parsing (document, method, config) VALUES (?, ?, ?)");
		this.#forget = database.prepare("DELETE FROM parsing WHERE document NOT IN (SELECT id FROM documents)");
	}

	of(document: string): Parsing {
		const row = this.#find.get(document);
		return row === undefined ? usual : { method: textColumn(row, "method"), config: textColumn(row, "config") };
	}

	setMethod(document: string, method: string): void {
		this.#set.run(document, method, this.of(document).config);
	}

	/** Laid over what was there, member by member. */
	setConfig(document: string, config: object): void {
		const { method, config: text } = this.of(document);
		const before: unknown = JSON.parse(text);
		this.#set.run(document, method, JSON.stringify({ ...(isObject(before) ? before : {}), ...config }));
	}

	/** Lets go of those whose documents are gone. */
	tidy(): void {
		this.#forget.run();
	}
}
