import { join } from "node:path";
import { numberText } from "../../text/words.ts";
import { countedOf, type Entry, kindOf, recordOf } from "./decode.ts";
import { journalLost, JournalUnreadable, olderFormat, otherFormat } from "./errors.ts";
import { readChunks } from "./files.ts";
import { type Chunks, type Damage, goodEntries, scan } from "./lines.ts";
import type { HeaderRecord, OutcomeRecord, SentRecord, StoredRecord } from "./records.ts";
import { JournalState } from "./state.ts";

/** All records of a run: how its executions began and ended, its writes before they are sent, and its outcomes. */
export const JOURNAL_FILE = "journal.log";

/** The records of a row that may have been sent and is not settled. */
export type RowInDoubt = {
	/** the last of its writes; absent where a repair lost it */
	readonly sent?: SentRecord;
	/** the document that its upload made */
	readonly stored?: StoredRecord;
};

/** A record's line, and the number of the execution that wrote it. */
type OrderedEntry = Entry & { readonly order: number };

/** A run as its folder has it. */
export class RecordedRun {
	readonly folder: string;
	readonly header: HeaderRecord;
	readonly state: JournalState;
	/** bytes of the good records of its journal */
	readonly goodLength: number;
	readonly #from: FirstRecords;

	constructor(folder: string, { state, goodLength, from }: ReadJournal, header: HeaderRecord) {
		this.folder = folder;
		this.header = header;
		this.state = state;
		this.goodLength = goodLength;
		this.#from = from;
	}

	/** Every good record, in the order in which they were written. They are not held. @param from offset of the first */
	async *entries(from = 0): AsyncGenerator<OrderedEntry> {
		const chunks = await readChunks(join(this.folder, JOURNAL_FILE), { from, to: this.goodLength });
		let { order = 0 } = this.header;
		for await (const entry of goodEntries(chunks ?? [])) {
			const header = kindOf(entry) === "header" ? recordOf(entry) : undefined;
			if (header?.kind === "header") ({ order = order } = header);
			yield Object.assign(entry, { order });
		}
	}

	/** The records of all writes. */
	async *sentRecords(): AsyncGenerator<SentRecord | StoredRecord> {
		for await (const entry of this.entries()) {
			const record = isSent(entry) ? recordOf(entry) : undefined;
			if (record?.kind === "sent") yield Object.assign(record, { order: entry.order });
			if (record?.kind === "stored") yield record;
		}
	}

	/** All outcomes. A row that was reopened has several. */
	async *outcomes(): AsyncGenerator<OutcomeRecord> {
		for await (const entry of this.entries()) {
			const record = kindOf(entry) === "outcome" ? recordOf(entry) : undefined;
			if (record?.kind === "outcome") yield record;
		}
	}

	/**
	 * The rows in doubt. After a kill they are no more than those that were in flight. Call it before the first of them is
	 * settled.
	 *
	 * @param includeFailed adds the rows that failed after something was sent, for a run that reopens them
	 */
	async rowsInDoubt(includeFailed = false): Promise<ReadonlyMap<number, RowInDoubt>> {
		const rows = new Map<number, RowInDoubt>();
		const { state } = this;
		const from = includeFailed ? Math.min(this.#from.failed, this.#from.inDoubt) : this.#from.inDoubt;
		// Most runs end with no row in doubt: then a long file need not be read.
		if (from === Number.POSITIVE_INFINITY) return rows;
		for await (const entry of this.entries(from)) {
			const { row } = entry;
			const status = state.statusOf(row);
			const isWanted = status === undefined || (includeFailed && status === "failed" && !state.isUntouched(row));
			const record = isWanted && isSent(entry) ? recordOf(entry) : undefined;
			if (record?.kind === "sent") rows.set(row, { ...rows.get(row), sent: record });
			if (record?.kind === "stored") rows.set(row, { ...rows.get(row), stored: record });
		}
		return rows;
	}
}

function isSent(entry: Entry): boolean {
	const kind = kindOf(entry);
	return kind === "sent" || kind === "stored";
}

/**
 * Reads the folder of a run and changes nothing in it. A write that was cut off at the end of the journal is skipped.
 *
 * @returns undefined where no header is complete: nothing was sent in such a run
 * @throws JournalUnreadable where the journal is damaged, or of another format
 * @throws JournalLost where the storage can't read it
 */
export async function readRun(folder: string): Promise<RecordedRun | undefined> {
	try {
		const path = join(folder, JOURNAL_FILE);
		const chunks = await readChunks(path);
		if (chunks === undefined) await refuseOlderFormat(folder);
		const journal = await readJournal(chunks ?? [], path);
		const { header } = journal.state;
		return header && new RecordedRun(folder, journal, header);
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder, "read");
	}
}

/** The first offsets of records of rows in doubt, and of rows that failed after something was sent; infinite for none. */
type FirstRecords = { readonly inDoubt: number; readonly failed: number };

type ReadJournal = {
	/** the state that the good records give */
	readonly state: JournalState;
	/** where they end. After them is a write that was cut off */
	readonly goodLength: number;
	readonly from: FirstRecords;
};

/**
 * @param file its path, for messages
 * @throws JournalUnreadable where it is damaged in its middle, or of another format
 */
export async function readJournal(chunks: Chunks, file: string): Promise<ReadJournal> {
	const state = new JournalState();
	/** offset of the first record of each row that was sent and is not settled; few rows are in flight at a time */
	const open = new Map<number, number>();
	let failed = Number.POSITIVE_INFINITY;
	let reopened = Number.POSITIVE_INFINITY;
	const { goodLength, end } = await scan(chunks, (entry, offset) => {
		const record = countedOf(entry);
		if (record === undefined) return "a record that this version does not know";
		if (record.kind === "other format") throw otherFormat(record.version, file);
		const broken = state.apply(record);
		if (broken !== undefined) return broken;
		if (record.kind === "reopen") reopened = failed;
		if (record.kind === "sent" || record.kind === "stored") {
			if (!open.has(record.row)) open.set(record.row, offset);
		} else if (record.kind === "outcome") {
			const { row, status } = record;
			if (status === "failed" && state.wasSent(row)) failed = Math.min(failed, open.get(row) ?? 0);
			open.delete(row);
		}
		return undefined;
	});
	if (typeof end === "object") throw damaged(end, file);
	const inDoubt = [...open.values()].reduce((least, offset) => Math.min(least, offset), reopened);
	return { state, goodLength, from: { inDoubt, failed } };
}

/** The journal of the first format. */
const FIRST_FORMAT_FILE = "journal.jsonl";

/** The version of the program, in the first line of a journal of the first format. */
const FIRST_FORMAT_TOOL = /^\{"c":"[0-9a-f]{8}","k":"h","v":1,.*?"tool":"([^"\\]+)"/;

/** Refuses a run of the first format, which had two files. One without a header had sent nothing. */
export async function refuseOlderFormat(folder: string): Promise<void> {
	const path = join(folder, FIRST_FORMAT_FILE);
	for await (const chunk of (await readChunks(path)) ?? []) {
		const tool = FIRST_FORMAT_TOOL.exec(Buffer.from(chunk).toString("latin1"))?.[1];
		if (tool !== undefined) throw olderFormat(path, tool);
		return;
	}
}

function damaged({ byte, record, rule }: Damage, file: string): JournalUnreadable {
	const place = `byte ${numberText(byte)} (record ${numberText(record)})`;
	const why = rule === undefined ? "" : `: ${rule}`;
	return new JournalUnreadable(`${file} is damaged at ${place}${why}`, "corrupt", file);
}
