import { existsSync } from "node:fs";
import { join } from "node:path";
import { numberText } from "../../text/words.ts";
import { countedOf, type Entry, recordOf } from "./record-line.ts";
import { damagedJournal, journalLost, JournalUnreadable, olderFormat, otherFormat } from "./errors.ts";
import { readChunks } from "./files.ts";
import { type Chunks, entryOfLine, goodEntries, LineSplitter } from "./lines.ts";
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
	/** what the good records say */
	readonly state: JournalState;
	/** bytes of the good records of its journal. After them is a write that was cut off */
	readonly goodLength: number;

	constructor(folder: string, { state, goodLength }: ReadJournal, header: HeaderRecord) {
		this.folder = folder;
		this.header = header;
		this.state = state;
		this.goodLength = goodLength;
	}

	/** Every good record, in the order in which they were written. They are not held. */
	async *entries(): AsyncGenerator<OrderedEntry> {
		let { order = 0 } = this.header;
		for await (const entry of goodEntries(readChunks(join(this.folder, JOURNAL_FILE), this.goodLength))) {
			const header = entry.facts?.kind === "header" ? recordOf(entry) : undefined;
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
			const record = entry.facts?.kind === "outcome" ? recordOf(entry) : undefined;
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
		// Most runs end with no row in doubt: then a long file need not be read.
		if (!includeFailed && state.countInDoubt() === 0) return rows;
		for await (const entry of this.entries()) {
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

function isSent({ facts }: Entry): boolean {
	return facts?.kind === "sent" || facts?.kind === "stored";
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
		const journal = await readJournal(readChunks(path), path);
		const { header } = journal.state;
		if (header === undefined) refuseOlderFormat(folder);
		return header && new RecordedRun(folder, journal, header);
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder, "read");
	}
}

/** The good records of a journal: what they say, their bytes, and how many they are. */
type ReadJournal = Pick<RecordedRun, "state" | "goodLength"> & { readonly records: number };

/**
 * Reads the records of a journal. The next record shows whether a bad one is damage or a write that was cut off: where a
 * good record follows, both had been written completely, so the bad one was damaged later.
 *
 * @param file its path, for messages
 * @throws JournalUnreadable where it is damaged in its middle, or of another format
 */
export async function readJournal(chunks: Chunks, file: string): Promise<ReadJournal> {
	const state = new JournalState();
	const splitter = new LineSplitter();
	let goodLength = 0;
	let records = 0;
	let hasBadLine = false;
	const damaged = (why = ""): JournalUnreadable => {
		const place = `byte ${numberText(goodLength)} (record ${numberText(records + 1)})`;
		return damagedJournal(`${file} is damaged at ${place}${why}`, file);
	};
	for await (const chunk of chunks) {
		for (const line of splitter.push(chunk)) {
			const entry = entryOfLine(line);
			if (entry === undefined) {
				hasBadLine = true;
				continue;
			}
			if (hasBadLine) throw damaged();
			const record = countedOf(entry);
			if (record?.kind === "other format") throw otherFormat(record.version, file);
			const rule = record === undefined ? "a record that this version does not know" : state.apply(record);
			if (rule !== undefined) throw damaged(`: ${rule}`);
			goodLength = line.next;
			records += 1;
		}
	}
	return { state, goodLength, records };
}

/** Refuses a run of the first format, which had two files. */
export function refuseOlderFormat(folder: string): void {
	const path = join(folder, "journal.jsonl");
	if (existsSync(path)) throw olderFormat(path);
}
