import { JournalUnreadable, journalLost } from "./errors.ts";
import { readChunks, replaceFile } from "./files.ts";
import { salvage } from "./packed.ts";
import { pathsOf, type PerFile } from "./reader.ts";
import { allRowsOf, type HeaderRecord, type JournalRecord, type ReadRecord } from "./records.ts";
import { type Chunks, goodRecords, type Scan, scan } from "./scan.ts";
import { SentState, writtenWithoutSentRecord } from "./sent-state.ts";
import { JournalState } from "./state.ts";

/** The result of a repair of one file. */
export type RepairedFile = {
	/** number of records that the file has now */
	readonly kept: number;
	/** number of records that were lost, at least: a line that can't be read may have been several records */
	readonly lost: number;
	/** path of the copy of the damaged file; undefined where the file was not damaged, or missing */
	readonly original: string | undefined;
};

/**
 * Makes a damaged run readable. Each damaged file is replaced in one step by a new one, which has every good record that
 * breaks no rule. A copy of the damaged file is kept. A row whose outcome is lost is in doubt again.
 *
 * The caller holds the run's lock.
 *
 * @throws JournalUnreadable where no header is left, or a header is of a newer format
 * @throws JournalLost where the storage fails; the old files are still there then
 */
export async function repairRun(folder: string, now: () => Date): Promise<PerFile<RepairedFile>> {
	const paths = pathsOf(folder);
	try {
		const damaged = { journal: await salvage(paths.journal), sent: await salvage(paths.sent) };
		const headers = await headersOf((await readChunks(paths.journal)) ?? []);
		const { first: header, newerVersion } = headers;
		if (newerVersion !== undefined) {
			throw new JournalUnreadable(`${paths.journal} is of format ${newerVersion}`, "foreign");
		}
		if (header === undefined) throw new JournalUnreadable(`${paths.journal} has no header left`, "corrupt");
		const time = now().toISOString();
		const journal = await repairJournal(paths.journal, header, headers.hasOtherRuns, time);
		const sent = await repairSent(paths.sent, header, journal.state, time);
		return { journal: withDamaged(journal.repaired, damaged.journal), sent: withDamaged(sent, damaged.sent) };
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder);
	}
}

/** What of a damaged compressed file could not be read is lost, at least one record. */
function withDamaged(repaired: RepairedFile, damaged: string | undefined): RepairedFile {
	if (damaged === undefined) return repaired;
	return { ...repaired, lost: Math.max(1, repaired.lost), original: damaged };
}

async function repairJournal(
	path: string,
	header: HeaderRecord,
	hasOtherRuns: boolean,
	time: string,
): Promise<{ repaired: RepairedFile; state: JournalState }> {
	const undamaged = new JournalState();
	const found = await scan((await readChunks(path)) ?? [], (record) => undamaged.apply(record));
	if (typeof found.end === "string") return { repaired: unchanged(found), state: undamaged };
	/** Passes the header, the number of lost records and each good record to `onGood`. */
	const sift = async (lost: number, onGood: Take): Promise<{ state: JournalState; bad: number }> => {
		const state = new JournalState();
		const belongsTo = recordsOf(header, hasOtherRuns);
		const beginning: readonly JournalRecord[] = [header, { kind: "lost", records: lost, time }];
		for (const record of beginning) {
			state.apply(record);
			await onGood(record);
		}
		const bad = await siftFile(path, onGood, (record) => {
			const part = belongsTo(record);
			if (part === "first header") return "duplicate";
			return part === "this run" && state.apply(record) === undefined ? "good" : "bad";
		});
		return { state, bad };
	};
	// The file is read twice: the number of lost records is written before the records themselves.
	let written = 0;
	const { state, bad: lost } = await sift(1, async () => void (written += 1));
	const original = await replaceFile(path, async (take) => void (await sift(lost, take)));
	return { repaired: { kept: withoutLost(written), lost, original }, state };
}

async function repairSent(
	path: string,
	header: HeaderRecord,
	outcomes: JournalState,
	time: string,
): Promise<RepairedFile> {
	const rows = allRowsOf(header.manifest);
	const undamaged = new SentState(rows);
	const chunks = await readChunks(path);
	const found = await scan(chunks ?? [], (record) => undamaged.apply(record));
	const isComplete = undamaged.lost > 0 || countOf(writtenWithoutSentRecord(outcomes, undamaged)) === 0;
	if (chunks !== undefined && typeof found.end === "string" && isComplete) return unchanged(found);
	/** Passes the number of lost records and each good record to `onGood`. */
	const sift = async (lost: number, onGood: Take): Promise<{ sent: SentState; bad: number }> => {
		const sent = new SentState(rows);
		const beginning: JournalRecord = { kind: "lost", records: lost, time };
		sent.apply(beginning);
		await onGood(beginning);
		const bad = await siftFile(path, onGood, (record) => (sent.apply(record) === undefined ? "good" : "bad"));
		return { sent, bad };
	};
	let written = 0;
	const { sent, bad } = await sift(1, async () => void (written += 1));
	// A missing file counts as one lost record at least, even where no outcome shows that there was one.
	const lost = Math.max(1, bad, countOf(writtenWithoutSentRecord(outcomes, sent)));
	const original = await replaceFile(path, async (take) => void (await sift(lost, take)));
	return { kept: withoutLost(written), lost, original };
}

type Take = (record: JournalRecord) => Promise<void>;

/** The record that gives the number of lost records is not one of the records that a repair keeps. */
function withoutLost(records: number): number {
	return records - 1;
}

function unchanged({ records }: Scan): RepairedFile {
	return { kept: records, lost: 0, original: undefined };
}

function countOf(rows: Iterable<number>): number {
	let count = 0;
	for (const _ of rows) count += 1;
	return count;
}

/**
 * Passes the good records of a file to `onGood`.
 *
 * @returns number of bad records; a `duplicate` is neither good nor bad
 */
async function siftFile(
	path: string,
	onGood: Take,
	judge: (record: ReadRecord) => "good" | "bad" | "duplicate",
): Promise<number> {
	let bad = 0;
	for await (const record of goodRecords((await readChunks(path)) ?? [], () => (bad += 1))) {
		const verdict = judge(record);
		if (verdict === "good" && record.kind !== "newer") await onGood(record);
		else if (verdict !== "duplicate") bad += 1;
	}
	return bad;
}

/** The headers of a damaged file. */
type Headers = {
	/** the first header that can be read, which need not be the first of the file: each execution repeats it */
	readonly first: HeaderRecord | undefined;
	/** whether there are headers of several runs */
	readonly hasOtherRuns: boolean;
	/** the format of a newer header, if there is one */
	readonly newerVersion: number | undefined;
};

async function headersOf(chunks: Chunks): Promise<Headers> {
	let first: HeaderRecord | undefined;
	let hasOtherRuns = false;
	let newerVersion: number | undefined;
	for await (const record of goodRecords(chunks)) {
		if (record.kind === "newer") newerVersion ??= record.version;
		if (record.kind !== "header") continue;
		first ??= record;
		hasOtherRuns ||= record.run !== first.run;
	}
	return { first, hasOtherRuns, newerVersion };
}

/**
 * Sorts the records of a file by run. All records between the header of another run and the next header of this one
 * belong to the other run; their rows must not count here.
 *
 * @returns a function to call with each record of the file in order
 */
function recordsOf(
	{ run }: HeaderRecord,
	hasOtherRuns: boolean,
): (record: ReadRecord) => "this run" | "first header" | "another run" {
	let isThisRun = !hasOtherRuns;
	let isFirstHeader = true;
	return (record) => {
		if (record.kind === "header") isThisRun = record.run === run;
		if (!isThisRun) return "another run";
		if (record.kind !== "header" || !isFirstHeader) return "this run";
		isFirstHeader = false;
		return "first header";
	};
}
