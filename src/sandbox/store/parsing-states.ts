import { type Database, integerColumn, type Statement, textColumn } from "./database.ts";

export type Run = "UNSTART" | "RUNNING" | "DONE" | "FAIL";

/** What a list shows of the parsing of a document. */
export type ParsingState = {
	readonly run: Run;
	/** from 0 to 1; -1 after a failure */
	readonly progress: number;
	readonly message: string;
	readonly chunkCount: number;
	readonly tokenCount: number;
	readonly isEnabled: boolean;
};

/** Parts of names by which a test asks for a failure. */
const FAILS = "parse-fails";
const FAILS_ONCE = "parse-fails-once";
const STALLS = "parse-stalls";

/** Bytes of a chunk, and of a token. */
const CHUNK = 1000;
const TOKEN = 4;

/** The progress of a document that was just queued: `begin2parse` in api/db/services/document_service.py sets random() / 100. */
const QUEUED = 0.005;

const columns = "run, shown, steps, message, chunk_count, token_count, enabled, starts";

const untouched: ParsingState = {
	run: "UNSTART",
	progress: 0,
	message: "",
	chunkCount: 0,
	tokenCount: 0,
	isEnabled: true,
};

/**
 * How far the parsing of each document is. No worker runs: a document that is parsed advances with each list that shows it, so
 * that a test waits for no clock. The name of a document may ask for a failure.
 */
export class ParsingStates {
	readonly #row: Statement;
	readonly #set: Statement;
	readonly #enable: Statement;
	readonly #reset: Statement;
	/** nearly every sandbox parses nothing, and lists are long */
	#hasAny: boolean;

	constructor(database: Database) {
		database.exec("DELETE FROM states WHERE document NOT IN (SELECT id FROM documents)");
		this.#row = database.prepare(`SELECT ${columns} FROM states WHERE document = ?`);
		this.#set = database.prepare(
			`INSERT OR REPLACE INTO states (document, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		);
		this.#enable = database.prepare(
			`INSERT INTO states (document, ${columns}) VALUES (?, 'UNSTART', 0, 1, '', 0, 0, ?, 0) ` +
				"ON CONFLICT (document) DO UPDATE SET enabled = excluded.enabled",
		);
		this.#reset = database.prepare(
			"UPDATE states SET run = ?, message = '', shown = 0, chunk_count = 0, token_count = 0 WHERE document = ?",
		);
		this.#hasAny = database.prepare("SELECT 1 AS one FROM states LIMIT 1").get() !== undefined;
	}

	of(document: string): ParsingState {
		if (!this.#hasAny) return untouched;
		const row = this.#row.get(document);
		if (row === undefined) return untouched;
		const run = runOf(textColumn(row, "run"));
		const [shown, steps] = [integerColumn(row, "shown"), integerColumn(row, "steps")];
		return {
			run,
			progress: progressOf(run, shown / steps),
			message: textColumn(row, "message"),
			chunkCount: integerColumn(row, "chunk_count"),
			tokenCount: integerColumn(row, "token_count"),
			isEnabled: integerColumn(row, "enabled") === 1,
		};
	}

	/** Queues a document, whose chunks are gone then. It ends after so many lists that show it. */
	start(document: string, steps: number): void {
		this.#hasAny = true;
		const row = this.#row.get(document);
		const [enabled, starts] =
			row === undefined ? [1, 0] : [integerColumn(row, "enabled"), integerColumn(row, "starts")];
		this.#set.run(document, "RUNNING", 0, steps, "", 0, 0, enabled, starts + 1);
	}

	/** One step of a document that a list has shown while it was at work. */
	advance(document: string, { name, size }: { readonly name: string; readonly size: number }): void {
		const row = this.#row.get(document);
		// One that is disabled is never synced, and stays as it is: `get_unfinished_docs` in api/db/services/document_service.py.
		if (row === undefined || textColumn(row, "run") !== "RUNNING" || integerColumn(row, "enabled") === 0) return;
		const [starts, steps] = [integerColumn(row, "starts"), integerColumn(row, "steps")];
		const shown = integerColumn(row, "shown") + 1;
		if (name.includes(STALLS) && shown > 1) return;
		const at = new Date().toISOString().slice(11, 19);
		const before = textColumn(row, "message");
		const said = (text: string): string => `${before === "" ? "" : `${before}\n`}${at} ${text}`;
		if (shown < steps) {
			const message = before === "" ? said("Task has been received.") : before;
			this.#set.run(document, "RUNNING", shown, steps, message, 0, 0, 1, starts);
		} else if (name.includes(FAILS_ONCE) ? starts === 1 : name.includes(FAILS)) {
			const message = said(`[ERROR]the sandbox can't parse ${name}`);
			this.#set.run(document, "FAIL", 0, steps, message, 0, 0, 1, starts);
		} else {
			const chunks = Math.ceil(size / CHUNK);
			const message = said(`Parsing is done: ${chunks} chunks.`);
			this.#set.run(document, "DONE", shown, steps, message, chunks, Math.ceil(size / TOKEN), 1, starts);
		}
	}

	setEnabled(document: string, isEnabled: boolean): void {
		this.#hasAny = true;
		this.#enable.run(document, isEnabled ? 1 : 0);
	}

	/** Another method of parsing: the document is as if it had never been parsed. */
	reset(document: string): void {
		this.#reset.run("UNSTART", document);
	}

	/** The chunks are gone, and the state stays. */
	dropChunks(document: string): void {
		this.#reset.run(this.of(document).run, document);
	}
}

function progressOf(run: Run, share: number): number {
	if (run === "FAIL") return -1;
	if (run === "DONE") return 1;
	return run === "RUNNING" ? Math.max(QUEUED, share) : 0;
}

function runOf(text: string): Run {
	return text === "RUNNING" || text === "DONE" || text === "FAIL" ? text : "UNSTART";
}
