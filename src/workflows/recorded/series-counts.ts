import { stat } from "node:fs/promises";
import { readChunks } from "../../run/journal/files.ts";
import { plainOutcomes } from "../../run/journal/own-form.ts";
import { JOURNAL_FILE } from "../../run/journal/reader.ts";
import type { HeaderRecord, ReadRecord, RowOutcome } from "../../run/journal/records.ts";
import { LineSplitter, recordOfLine, scan } from "../../run/journal/scan.ts";
import { millisecondsUntil } from "../../run/recorded/run-time.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { rounded } from "../../run/series/condense.ts";
import type { SeriesPoint } from "../../run/series/point.ts";
import { readSeries, SERIES_FILE } from "../../run/series/series-file.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import type { Totals } from "../../run/types.ts";
import { ownerOfExecution } from "./going-on.ts";

/** Bytes of a journal that are read in less than a tenth of a second, some 40,000 rows. */
const SHORT_JOURNAL = 4 * 1024 * 1024;

/** The counts of a run that has no summary. */
export type SeriesCounts = {
	readonly totals: Pick<Totals, "rows" | "failed" | "invalid" | "duplicateSkipped" | "pending">;
	/** of all executions together */
	readonly seconds: number;
};

/**
 * The counts of a run with a long journal, from its series. Those of a run that a process of this machine executes now are
 * those of the last line, mostly a second old. Those of any other run, such as one that was killed, are exact: to the last
 * line are added the records that follow it in the journal.
 *
 * @returns undefined where the journal has to be read as a whole: it is short, or the series does not say enough
 */
export async function seriesCounts(
	runs: RunStore,
	run: string,
	processes: Processes,
): Promise<SeriesCounts | undefined> {
	const journal = runs.path(run, JOURNAL_FILE);
	const file = await stat(journal).catch(() => undefined);
	if (file === undefined || file.size <= SHORT_JOURNAL) return undefined;
	const points = await readSeries(runs.path(run, SERIES_FILE)).catch(() => []);
	const last = points.at(-1);
	if (last === undefined) return undefined;
	const header = await headerOfWhole(journal);
	if (header === undefined) return undefined;
	const owner = await ownerOfExecution(run, runs, processes);
	// What an earlier execution recorded last may be seconds older than its last row.
	const goesOn = owner?.state === "running" && last.t * 1000 >= Date.parse(owner.since);
	const added = goesOn ? NOTHING : await countedSince(last, journal, file.size);
	if (added === undefined) return undefined;
	const { rows, invalid, duplicateSkipped } = header.manifest;
	const pending = rows - invalid - duplicateSkipped - last.done - added.done;
	// Whether such a run has ended is in its last record.
	if (!goesOn && pending <= 0) return undefined;
	const totals = { rows, failed: last.failed + added.failed, invalid, duplicateSkipped, pending };
	// An execution that was killed ended at the last write to its journal.
	const since = goesOn ? 0 : Math.max(0, file.mtimeMs / 1000 - last.t);
	const seconds =
		added.header === undefined
			? (last.seconds ?? points.reduce((sum, { s }) => sum + s, 0)) + since
			: millisecondsUntil(added.header, file.mtimeMs) / 1000;
	return { totals, seconds: rounded(seconds) };
}

/** Rows that were settled, how many of them failed, and the last execution that began meanwhile. */
type Added = { readonly done: number; readonly failed: number; readonly header: HeaderRecord | undefined };

const NOTHING: Added = { done: 0, failed: 0, header: undefined };

/** The outcomes after a point of the series; undefined where what follows it is not outcomes alone. */
async function countedSince(point: SeriesPoint, journal: string, size: number): Promise<Added | undefined> {
	// Without its seconds the time between two executions would count as one of theirs.
	if (point.journal === undefined || point.journal > size || point.seconds === undefined) return undefined;
	let [done, failed, isSimple] = [0, 0, true];
	let header: HeaderRecord | undefined;
	const add = ({ status }: Pick<RowOutcome, "status">): void => {
		done += 1;
		if (status === "failed") failed += 1;
	};
	const onRecord = (record: ReadRecord): undefined => {
		if (record.kind === "outcome") add(record);
		// A new execution counts on. Other records say that rows are pending again, or that the run ended.
		else if (record.kind === "header") header = record;
		else isSimple = false;
	};
	const readPlain = plainOutcomes((outcome) => {
		add(outcome);
		return true;
	});
	const { end } = await scan((await readChunks(journal, point.journal)) ?? [], onRecord, { readPlain });
	return isSimple && typeof end === "string" ? { done, failed, header } : undefined;
}

/** The first record of a journal; undefined where its beginning is no header, and where a repair has left out records. */
async function headerOfWhole(journal: string): Promise<HeaderRecord | undefined> {
	for await (const chunk of (await readChunks(journal)) ?? []) {
		const [first, second] = [...new LineSplitter().push(chunk.subarray(0, HEAD_BYTES))].map(recordOfLine);
		return first?.kind === "header" && second?.kind !== "lost" ? first : undefined;
	}
	return undefined;
}

/** Bytes that the first two records of a journal have at most, as long as its manifest's path is not absurd. */
const HEAD_BYTES = 64 * 1024;
