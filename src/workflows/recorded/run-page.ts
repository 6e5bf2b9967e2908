import { readFile } from "node:fs/promises";
import { countWritten } from "../../outcomes.ts";
import { dirname, join } from "node:path";
import { differenceOf } from "../../plan/change.ts";
import { chartOf } from "../../report/page/chart.ts";
import {
	type NextCommand,
	outcomeOf,
	type PageChange,
	type PageFailure,
	type RunPage,
} from "../../report/page/model.ts";
import { readRun, type RecordedRun } from "../../run/journal/reader.ts";
import { writtenRows } from "../../run/recorded/recorded-rows.ts";
import { readRunFile, recordedSending, type RunFile } from "../../run/recorded/run-file.ts";
import { readSeries, SERIES_FILE, type SeriesPoint } from "../../run/series/series-file.ts";
import { RememberedDatasets } from "../../run/service/service-memory.ts";
import { quoted } from "../../flags/next-command.ts";
import { readSummary, type RunSummary } from "../../run/recorded/run-summary.ts";

/** Rows of a table of a report. A page with more is slow to open; `--failed` and `--json` have all. */
const MOST_ROWS = 5000;

/**
 * The report of a recorded run, from its folder alone.
 *
 * @param end of the execution that ends now, whose summary is not written yet
 * @returns undefined where nothing was recorded
 * @throws JournalUnreadable and errors of the storage
 */
export async function recordedPage(
	folder: string,
	end?: RunSummary,
): Promise<Omit<RunPage, "ragtag" | "problems"> | undefined> {
	const recorded = await readRun(folder);
	const file = readRunFile(await readFile(join(folder, "run.json"), "utf8"));
	if (recorded === undefined || file === undefined) return undefined;
	const { state } = recorded;
	const totals = state.totals();
	const printed = end ?? readSummary(folder);
	const exit = printed?.exitCode ?? state.end?.exitCode;
	const verify = printed?.verify;
	const { failures, codes, names } = await outcomesOf(recorded);
	const changes = await changesOf(recorded, names);
	const points = await readSeries(join(folder, SERIES_FILE)).catch(() => []);
	return {
		command: file.command,
		run: file.run,
		outcome: outcomeOf({ totals, exit, verify }),
		reasons: printed?.stop === undefined ? [] : [printed.stop.text],
		next: nextCommands(file, recorded, printed),
		service: file.baseUrl,
		datasets: await datasetsOf(folder, file, changes.rows),
		manifest: file.manifest.name,
		settings: settingsOf(file, points),
		started: file.started,
		ended: end?.ended ?? state.end?.time,
		executions: state.headers.length,
		totals,
		seconds: printed?.seconds,
		exit,
		slow: printed?.slow ?? [],
		foundRate: printed?.foundRate,
		verify,
		chart: chartOf(points),
		codes,
		failures: { rows: failures, total: totals.failed },
		changes,
	};
}

/** Options that are no choice of a person, or stand elsewhere in the report. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(["mode", "dataset", "filesRoot"]);

/** How a run was run. */
function settingsOf({ options, sending, flags, by }: RunFile, points: readonly SeriesPoint[]): RunPage["settings"] {
	const { mode } = options;
	const optionTexts = Object.entries(options).flatMap(([name, value]) => {
		if (SAID_ELSEWHERE.has(name) || value === undefined || value === null || value === false) return [];
		const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
		return [`${flag} ${typeof value === "string" ? value : JSON.stringify(value)}`];
	});
	const sent = Object.entries(recordedSending(sending ?? {})).flatMap(([name, value]) =>
		value === undefined ? [] : [`${name} ${String(value)}`],
	);
	return [
		["Mode", typeof mode === "string" ? mode : undefined],
		["Options", optionTexts.join(", ") || undefined],
		["Sending", sent.join(", ") || undefined],
		["Flags", flags.join(" ") || undefined],
		["Begun by", by],
		["Latency", latencyText(points)],
	];
}

/** The percentiles of the second in the middle of a run: those of the whole run are not recorded. */
function latencyText(points: readonly SeriesPoint[]): string | undefined {
	const middle = (of: "p50" | "p95"): number | undefined => {
		const sorted = points.flatMap((point) => point[of] ?? []).toSorted((one, other) => one - other);
		return sorted[Math.floor(sorted.length / 2)];
	};
	const [p50, p95] = [middle("p50"), middle("p95")];
	return p50 === undefined || p95 === undefined ? undefined : `p50 ${p50} ms, p95 ${p95} ms in a middling second`;
}

/** The failed rows, their codes, and the names of stored files by row. */
async function outcomesOf(run: RecordedRun) {
	const { state } = run;
	const byRow = new Map<number, PageFailure>();
	const examples = new Map<string, string>();
	const names = new Map<number, string>();
	for await (const outcome of run.outcomes()) {
		const { row, line, documentId, attempts, storedName } = outcome;
		if (storedName !== undefined && names.size < MOST_ROWS) names.set(row, storedName);
		// A row that failed may have been reopened, and be pending or settled now.
		if (outcome.status !== "failed" || state.statusOf(row) !== "failed") continue;
		const { code, text } = outcome.error;
		if (state.codeOf(row) === code && !examples.has(code)) examples.set(code, text);
		if (byRow.size < MOST_ROWS || byRow.has(row)) byRow.set(row, { line, documentId, code, text, attempts });
	}
	const codes = Array.from(examples, ([code, example]) => ({ code, count: state.failedWith(code), example }));
	return {
		names,
		failures: [...byRow.values()].toSorted((one, other) => one.line - other.line),
		codes: codes.toSorted((one, other) => other.count - one.count),
	};
}

async function changesOf(recorded: RecordedRun, names: ReadonlyMap<number, string>): Promise<RunPage["changes"]> {
	const totals = recorded.state.totals();
	const rows: PageChange[] = [];
	for await (const written of writtenRows(recorded)) {
		const { row, line, datasetId, documentId, write, metadata, before, status } = written;
		if (status === undefined || status === "failed" || status === "unchanged") continue;
		const isBeforeKnown = before !== undefined || write === "upload" || write === "rename";
		const difference = differenceOf(before ?? new Map(), metadata);
		const { add, change, remove } = difference;
		// Its document had already what was written.
		if (write === "update" && isBeforeKnown && add.size + change.size + remove.size === 0) continue;
		const target = { line, datasetId, documentId, action: write, name: names.get(row) ?? written.names?.to };
		rows.push({ ...target, difference, isBeforeKnown });
		if (rows.length === MOST_ROWS) break;
	}
	const total = Math.max(rows.length, countWritten(totals) - recorded.state.noOpUpdates);
	return { rows: rows.toSorted((one, other) => one.line - other.line), total };
}

/** The datasets of the run, with the names that the service was last seen to have. */
async function datasetsOf(
	folder: string,
	{ baseUrl, options }: RunFile,
	changes: readonly PageChange[],
): Promise<RunPage["datasets"]> {
	const given = options["dataset"];
	const ids = new Set([
		...(typeof given === "string" ? [given] : []),
		...changes.map(({ datasetId }) => datasetId).filter((id) => id !== ""),
	]);
	// The folder of a run is STATE/runs/RUN.
	const known = await new RememberedDatasets(dirname(dirname(folder)), baseUrl).load();
	const names = new Map(known.map(({ id, name }) => [id, name]));
	return [...ids].slice(0, MOST_DATASETS).map((id) => ({ id, name: names.get(id) }));
}

/** Datasets that the head of a report names. */
const MOST_DATASETS = 20;

function nextCommands(
	{ run, flags }: RunFile,
	{ state }: RecordedRun,
	printed: RunSummary | undefined,
): readonly NextCommand[] {
	const { pending, failed } = state.totals();
	const more = flags.map((word) => ` ${quoted(word)}`).join("");
	const next: NextCommand[] = [];
	if (pending > 0) next.push({ what: "Send the pending rows", command: `ragtag runs resume ${run}${more}` });
	if (failed > 0) next.push({ what: "Try the failed rows again", command: `ragtag runs retry ${run}${more}` });
	if ((printed?.verify?.lost ?? 0) > 0) {
		next.push({ what: "Check again what is lost", command: `ragtag runs verify ${run}${more}` });
	}
	if (printed?.undo !== undefined) next.push({ what: "Undo it", command: printed.undo });
	return next;
}
