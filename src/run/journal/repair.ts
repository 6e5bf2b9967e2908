import { writtenWithoutSentRecord, SentState } from "./sent-state.ts";
import { JournalUnreadable, journalLost } from "./errors.ts";
import { readChunks, replaceFile } from "./files.ts";
import { type PerFile, pathsOf } from "./reader.ts";
import type { HeaderRecord, JournalRecord, ReadRecord } from "./records.ts";
import { goodRecords, type Chunks, type Scan, scan } from "./scan.ts";
import { JournalState } from "./state.ts";

/** What a repair did to one file. */
export type Repaired = {
	/** records that are in it now */
	readonly kept: number;
	/** what could not be kept, at least: a line that can't be read may have been several records */
	readonly lost: number;
	/** where the damaged file is now; undefined where nothing was wrong, or where there was none */
	readonly original: string | undefined;
};

/**
 * Makes a damaged run readable: each file keeps every good record that breaks no rule, in a new file that takes the old
 * one's place at once; the old one is kept. A row whose outcome is lost is in doubt again.
 *
 * The run's lock must be held.
 *
 * @throws JournalUnreadable where no header is left, or one is of a newer format
 * @throws JournalLost where the storage fails; what was there is there still
 */
export async function repairRun(folder: string, now: () => Date): Promise<PerFile<Repaired>> {
	const paths = pathsOf(folder);
	try {
		const headers = await headersOf((await readChunks(paths.journal)) ?? []);
		const { first: header, newer } = headers;
		if (newer !== undefined) throw new JournalUnreadable(`${paths.journal} is of format ${newer}`, "foreign");
		if (header === undefined) throw new JournalUnreadable(`${paths.journal} has no header left`, "corrupt");
		const time = now().toISOString();
		const journal = await repairJournal(paths.journal, header, headers.mixed, time);
		return { journal: journal.repaired, sent: await repairSent(paths.sent, header, journal.state, time) };
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder);
	}
}

async function repairJournal(
	path: string,
	header: HeaderRecord,
	mixed: boolean,
	time: string,
): Promise<{ repaired: Repaired; state: JournalState }> {
	const whole = new JournalState();
	const seen = await scan((await readChunks(path)) ?? [], (record) => whole.apply(record));
	if (typeof seen.end === "string") return { repaired: unharmed(seen), state: whole };
	/** Every record behind the first header and the note of what is lost, each of which it counts. */
	const sift = async (lost: number, onGood: Take): Promise<{ state: JournalState; bad: number }> => {
		const state = new JournalState();
		const belongs = ofRun(header, mixed);
		const first: readonly JournalRecord[] = [header, { kind: "lost", records: lost, time }];
		for (const record of first) {
			state.apply(record);
			await onGood(record);
		}
		const bad = await siftFile(path, onGood, (record) => {
			const part = belongs(record);
			if (part === "first") return "again";
			return part === "own" && state.apply(record) === undefined ? "good" : "bad";
		});
		return { state, bad };
	};
	// Once to count what is lost, once to write: the note stands before the records, whose ends it explains.
	// The note is none of the records that are kept.
	let kept = -1;
	const { state, bad: lost } = await sift(1, async () => void (kept += 1));
	const original = await replaceFile(path, async (take) => void (await sift(lost, take)));
	return { repaired: { kept, lost, original }, state };
}

async function repairSent(path: string, header: HeaderRecord, state: JournalState, time: string): Promise<Repaired> {
	const { rows } = header.manifest;
	const whole = new SentState(rows);
	const chunks = await readChunks(path);
	const seen = await scan(chunks ?? [], (record) => whole.apply(record));
	const isComplete = whole.lost > 0 || countOf(writtenWithoutSentRecord(state, whole)) === 0;
	if (chunks !== undefined && typeof seen.end === "string" && isComplete) return unharmed(seen);
	const sift = async (lost: number, onGood: Take): Promise<{ sent: SentState; bad: number }> => {
		const sent = new SentState(rows);
		const first: JournalRecord = { kind: "lost", records: lost, time };
		sent.apply(first);
		await onGood(first);
		const bad = await siftFile(path, onGood, (record) => (sent.apply(record) === undefined ? "good" : "bad"));
		return { sent, bad };
	};
	// The note is none of the records that are kept.
	let kept = -1;
	const { sent, bad } = await sift(1, async () => void (kept += 1));
	// A file that is missing has lost one record at least, though nothing may tell of it.
	const lost = Math.max(1, bad, countOf(writtenWithoutSentRecord(state, sent)));
	const original = await replaceFile(path, async (take) => void (await sift(lost, take)));
	return { kept, lost, original };
}

type Take = (record: JournalRecord) => Promise<void>;

function unharmed({ records }: Scan): Repaired {
	return { kept: records, lost: 0, original: undefined };
}

function countOf(rows: Iterable<number>): number {
	let count = 0;
	for (const _ of rows) count += 1;
	return count;
}

/** Hands on the good records of a file, and tells how many are bad. One that is there `again` is neither. */
async function siftFile(
	path: string,
	onGood: Take,
	judge: (record: ReadRecord) => "good" | "bad" | "again",
): Promise<number> {
	let bad = 0;
	for await (const record of goodRecords((await readChunks(path)) ?? [], () => (bad += 1))) {
		const verdict = judge(record);
		if (verdict === "good" && record.kind !== "newer") await onGood(record);
		else if (verdict !== "again") bad += 1;
	}
	return bad;
}

/** What the headers of a damaged file say. */
export type Headers = {
	/** the first that can still be read: each sitting repeats what the run is */
	readonly first: HeaderRecord | undefined;
	/** whether there are records of more than one run */
	readonly mixed: boolean;
	/** a format that this program does not know, if there is one */
	readonly newer: number | undefined;
};

export async function headersOf(chunks: Chunks): Promise<Headers> {
	let first: HeaderRecord | undefined;
	let mixed = false;
	let newer: number | undefined;
	for await (const record of goodRecords(chunks)) {
		if (record.kind === "newer") newer ??= record.version;
		if (record.kind !== "header") continue;
		first ??= record;
		mixed ||= record.run !== first.run;
	}
	return { first, mixed, newer };
}

/**
 * Whether each record of a file is one of the run, except for its first header. From the header of another run to the
 * next of its own all are the other's: their rows would be counted as this run's.
 */
export function ofRun({ run }: HeaderRecord, mixed: boolean): (record: ReadRecord) => "own" | "first" | "other" {
	let own = !mixed;
	let seen = false;
	return (record) => {
		if (record.kind === "header") own = record.run === run;
		if (!own) return "other";
		if (record.kind !== "header" || seen) return "own";
		seen = true;
		return "first";
	};
}
