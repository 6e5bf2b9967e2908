import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Exit } from "../../errors.ts";
import { countedOf, encode, type Entry } from "./record-line.ts";
import { damagedJournal, JournalUnreadable, journalLost, otherFormat } from "./errors.ts";
import { packedPath, readChunks, replaceFile } from "./files.ts";
import { goodEntries } from "./lines.ts";
import { JOURNAL_FILE, readJournal, refuseOlderFormat } from "./reader.ts";
import type { HeaderRecord, LostRecord } from "./records.ts";
import { JournalState } from "./state.ts";

/** The result of a repair. */
export type Repaired = {
	/** number of records that the journal has now */
	readonly kept: number;
	/** number of records that were lost, at least: a line that can't be read may have been several records */
	readonly lost: number;
	/** path of the copy of the damaged journal; undefined where it was not damaged */
	readonly original: string | undefined;
};

/**
 * Makes a damaged run readable. Its journal is replaced in one step by a new one, which has every good record that breaks
 * no rule. A copy of the damaged one is kept. A row whose outcome is lost is in doubt again.
 *
 * The caller holds the run's lock.
 *
 * @throws JournalUnreadable where no header is left, or a header is of another format
 * @throws JournalLost where the storage fails; the old journal is still there then
 */
export async function repairRun(folder: string, now: () => Date): Promise<Repaired> {
	const path = join(folder, JOURNAL_FILE);
	try {
		return await repairJournal(path, now().toISOString());
	} catch (error) {
		throw error instanceof JournalUnreadable ? error : journalLost(error, folder);
	}
}

async function repairJournal(path: string, time: string): Promise<Repaired> {
	const header = await firstHeader(path);
	const read = await readJournal(readChunks(path), path).catch(ifDamaged);
	if (read !== undefined) return { kept: read.records, lost: 0, original: undefined };
	// The journal is read twice: the number of lost records is written before the records themselves.
	const counts = { kept: 0, lost: 0 };
	for await (const _ of sifted(path, header, { time, records: 1 }, counts));
	const { kept, lost } = counts;
	const old = existsSync(path) ? path : packedPath(path);
	const original = `${old}.damaged-${time.replaceAll(/\D/g, "")}`;
	await replaceFile(path, sifted(path, header, { time, records: lost }), old, original);
	return { kept, lost, original };
}

/** Passes over damage. @throws every other error */
function ifDamaged(error: unknown): undefined {
	if (!(error instanceof JournalUnreadable) || error.exit !== Exit.storage) throw error;
}

/** Every good record: of a compressed journal, those before its damage. */
async function* goodEntriesOf(path: string, onBad: () => void = () => undefined): AsyncGenerator<Entry> {
	try {
		yield* goodEntries(readChunks(path), onBad);
	} catch (error) {
		ifDamaged(error);
		onBad();
	}
}

/** The first header that can be read, which need not be the first of the file: each execution repeats it. */
async function firstHeader(path: string): Promise<HeaderRecord> {
	for await (const entry of goodEntriesOf(path)) {
		const record = countedOf(entry);
		if (record?.kind === "other format") throw otherFormat(record.version, path);
		if (record?.kind === "header") return record;
	}
	refuseOlderFormat(dirname(path));
	throw damagedJournal(`${path} has no header left`);
}

/**
 * The lines of a repaired journal: the header, the number of lost records, and each good record of the damaged one. All
 * records between the header of another run and the next header of this one belong to the other run; their rows must not
 * count here.
 *
 * @param counts gets the number of records that are kept and lost
 */
async function* sifted(
	path: string,
	first: HeaderRecord,
	{ time, records }: Omit<LostRecord, "kind">,
	counts = { kept: 0, lost: 0 },
): AsyncGenerator<Buffer> {
	const state = new JournalState();
	for (const record of [first, { kind: "lost", records, time }] as const) {
		state.apply(record);
		yield Buffer.from(encode(record));
	}
	counts.kept += 1;
	let isThisRun = true;
	let isFirstHeader = true;
	for await (const entry of goodEntriesOf(path, () => (counts.lost += 1))) {
		const record = countedOf(entry);
		if (record?.kind === "header") isThisRun = record.run === first.run;
		if (record?.kind === "header" && isThisRun && isFirstHeader) {
			isFirstHeader = false;
			continue;
		}
		if (!isThisRun || record === undefined || state.apply(record) !== undefined) {
			counts.lost += 1;
			continue;
		}
		counts.kept += 1;
		yield Buffer.concat([entry.bytes, LINE_END]);
	}
	counts.lost = Math.max(counts.lost, state.countWrittenUnsent());
}

const LINE_END = Buffer.from("\n");
