import { stat } from "node:fs/promises";
import { readChunks } from "../../run/journal/files.ts";
import { JOURNAL_FILE } from "../../run/journal/reader.ts";
import type { HeaderRecord } from "../../run/journal/records.ts";
import { LineSplitter, recordOfLine } from "../../run/journal/scan.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { rounded } from "../../run/series/condense.ts";
import { readSeries, SERIES_FILE } from "../../run/series/series-file.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import type { Totals } from "../../run/types.ts";
import { ownerOfExecution } from "./going-on.ts";

/** Bytes of a journal that are read in about a tenth of a second, some 25,000 rows. */
const SHORT_JOURNAL = 4 * 1024 * 1024;

/** The counts of a run that goes on. They are those of the last line of its series, mostly a second old. */
export type RunningCounts = {
	readonly totals: Pick<Totals, "rows" | "failed" | "invalid" | "duplicateSkipped" | "pending">;
	/** of all executions together */
	readonly seconds: number;
};

/**
 * The counts of a run that a process of this machine executes now, from its series: the journal of ten million rows takes
 * most of a minute to read. Undefined for any other run, for a journal that is read at once, and where the series has
 * nothing of this execution yet.
 */
export async function runningCounts(
	runs: RunStore,
	run: string,
	processes: Processes,
): Promise<RunningCounts | undefined> {
	const journal = runs.path(run, JOURNAL_FILE);
	const size = await stat(journal).then(
		(file) => file.size,
		() => 0,
	);
	if (size <= SHORT_JOURNAL) return undefined;
	const owner = await ownerOfExecution(run, runs, processes);
	if (owner?.state !== "running") return undefined;
	const points = await readSeries(runs.path(run, SERIES_FILE)).catch(() => []);
	const last = points.at(-1);
	// What an earlier execution recorded last may be seconds older than its last row.
	if (last === undefined || last.t * 1000 < Date.parse(owner.since)) return undefined;
	const header = await firstHeader(journal);
	if (header === undefined) return undefined;
	const { rows, invalid, duplicateSkipped } = header.manifest;
	const pending = rows - invalid - duplicateSkipped - last.done;
	const seconds = rounded(points.reduce((sum, { s }) => sum + s, 0));
	return { totals: { rows, failed: last.failed, invalid, duplicateSkipped, pending }, seconds };
}

/** The first record of a journal; undefined where its beginning is no header. */
async function firstHeader(journal: string): Promise<HeaderRecord | undefined> {
	for await (const chunk of (await readChunks(journal)) ?? []) {
		for (const line of new LineSplitter().push(chunk)) {
			const record = recordOfLine(line);
			return record?.kind === "header" ? record : undefined;
		}
		return undefined;
	}
	return undefined;
}
