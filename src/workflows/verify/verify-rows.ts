import { dirname } from "node:path";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { GlobalFlags, VerifyFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import { payloadFlags } from "../../flags/payload-options.ts";
import { purposeOf, PURPOSES } from "../../manifest/purposes.ts";
import { countWritten } from "../../outcomes.ts";
import { READS_IN_FLIGHT } from "../../rates.ts";
import type { Ended } from "../../report/summary.ts";
import { verdictText, verifyLine } from "../../report/verify.ts";
import { showsMetadata } from "../../run/documents/before-images.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import { MAX_OUTAGE } from "../../run/rate/outage.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { timeIsUp } from "../../run/stop/reasons.ts";
import { stopFromError, stopOrSignal } from "../../run/stop/shutdown.ts";
import type { Stop, VerifyCounts, VerifyMode } from "../../run/types.ts";
import { laterRunsOf } from "../../run/verify/later-runs.ts";
import { pickRows } from "../../run/verify/picked-rows.ts";
import { type JudgedRow, verifyRun } from "../../run/verify/verify.ts";
import { show } from "../../text/show.ts";
import { rowsText } from "../../text/words.ts";
import type { Run } from "../open-run.ts";
import { APPLY, sendsPlan } from "../plan/open-plan.ts";

/** A recorded run that is to be verified. */
type ToVerify = {
	readonly recorded: RecordedRun;
	readonly runs: RunStore;
	readonly mode: VerifyMode;
	/** the file whose lines the rows name */
	readonly name: string;
	/** when the command began, on the clock: `--max-duration` counts from there */
	readonly started: number;
	/** exit code where the service shows no metadata, so that nothing can be read back */
	readonly unreadable: ExitCode;
};

/** Reads back what a recorded run wrote, reports what is not as it was sent, and counts. Sends nothing that writes. */
export async function verifyRows(
	{ recorded, runs, mode, name, started, unreadable }: ToVerify,
	{ flags, session, settings, app }: Pick<Run<VerifyFlags>, "flags" | "session" | "settings" | "app">,
) {
	const { io, clock, signal } = app;
	const { service } = session;
	const { concurrency, maxDuration = Number.POSITIVE_INFINITY, maxOutage } = flags;
	const request = session.requestWithin(maxOutage);
	const picked = await pickRows(recorded, mode, () => clock.random());
	const tally = { equal: 0, normalised: 0, lost: 0, changed_since: 0, unknown: picked.unrecorded };
	/** rows that were changed since, and not by a later run of ours */
	let unexplained = 0;
	const done = (): number => tally.equal + tally.normalised + tally.lost + tally.changed_since + tally.unknown;
	const total = picked.count + picked.unrecorded;
	const reportVerdict = verdictReporter(name, flags.json === true, app);
	session.monitor.enter("verifying");
	const progress = io.progress();
	const work = async (): Promise<Stop | undefined> => {
		const { taggedDataset } = picked;
		// Where nothing was written into metadata, a search that fails hides nothing that is to be read back.
		if (taggedDataset === undefined) service.searches.isNoneBelieved = true;
		if (taggedDataset !== undefined && !(await showsMetadata(service, request, taggedDataset))) {
			return hidden(taggedDataset, unreadable);
		}
		if (picked.unrecorded > 0) {
			io.err(
				`The record does not say what was written for ${rowsText(picked.unrecorded)}, so those rows can't be checked.`,
			);
		}
		const rows = verifyRun(recorded, picked, {
			service,
			request,
			clock,
			signal,
			folder: () => app.temporaryFolder(settings),
			concurrency: concurrency === "auto" ? READS_IN_FLIGHT : concurrency,
			laterRuns: () => laterRunsOf(runs, recorded.header),
		});
		if (clock.now() - started > maxDuration) return timeIsUp(maxDuration);
		for await (const judged of rows) {
			tally[judged.result] += 1;
			if (judged.result === "changed_since" && judged.laterRun === undefined) unexplained += 1;
			await reportVerdict(judged);
			progress.update({ done: done(), total, failed: tally.lost + tally.unknown });
			if (clock.now() - started > maxDuration && done() < total) return timeIsUp(maxDuration);
		}
		return undefined;
	};
	try {
		const stop = await work().catch((error: unknown) => stopOrSignal(error, signal));
		const counts: VerifyCounts = { mode, rows: picked.written, checked: done(), ...tally, pending: total - done() };
		return { counts, unexplained, stop };
	} finally {
		progress.stop();
	}
}

function hidden(datasetId: string, exit: ExitCode): Stop {
	return {
		exit,
		text: `the list of dataset ${show(datasetId)} shows no metadata, so what was written can't be read back`,
		hint: "The service does not show what its documents have.",
	};
}

/** Rows of a kind that are reported one by one; standard error names no more. */
const MAX_REPORTED = 20;

/** Reports rows that are not as they were sent: the first on standard error, a line each; with `json` all, an object each. */
function verdictReporter(name: string, json: boolean, { io }: App): (judged: JudgedRow) => Promise<void> {
	let [bad, changed] = [0, 0];
	return async (judged) => {
		const { result, line, row } = judged;
		if (result === "equal" || result === "normalised") return;
		if (json) await io.out(`${verifyLine(judged)}\n`);
		const where = line === undefined ? `row ${row + 1}` : String(line);
		const text = `${name}:${where}: ${verdictText(judged)}`;
		const more = json ? "" : "; --json lists all of them";
		const isChanged = result === "changed_since";
		const count = isChanged ? (changed += 1) : (bad += 1);
		const rest = `... more ${isChanged ? "documents were changed since" : "rows are lost"}${more}`;
		if (count > MAX_REPORTED + 1) return;
		(isChanged ? io.note : io.err)(count > MAX_REPORTED ? rest : text);
	};
}

/** The run to verify, which has just ended. */
type VerifyAfter = Pick<ToVerify, "runs" | "name" | "started"> & {
	readonly run: string;
	/** why it stopped early */
	readonly stop: Stop | undefined;
};

const SURPLUS =
	"warning: an answer came that no request had waited for, so earlier answers may belong to other rows. A proxy or the service is at fault.";

/**
 * Reads back what a run wrote, over all its executions: with `--verify`, or where a surplus answer came. Does nothing if the
 * reason for the stop would stop this too.
 *
 * @returns the result, where anything could be checked, and why the verification stopped early
 */
export async function verifyAfter(
	{ run, runs, name, started, stop }: VerifyAfter,
	context: Pick<Run, "flags" | "session" | "settings" | "app">,
): Promise<Partial<Pick<Ended, "verify" | "stop">>> {
	const { flags, app, session } = context;
	const mode = session.hadSurplusAnswer ? "all" : (flags.verify ?? "none");
	if (mode === "none") return {};
	if (session.hadSurplusAnswer) app.io.note(SURPLUS);
	const later = withFlags(`ragtag runs verify ${run}`, flags);
	// The reason for the stop would stop this too, except a limit, which counts only rows.
	if (app.signal.aborted || (stop !== undefined && stop.exit !== Exit.limit)) {
		app.io.note(`What was written was not verified. Verify it with: ${later}`);
		return {};
	}
	try {
		const recorded = await runs.journal(run);
		if (recorded === undefined) return {};
		const written = recorded.state.totals();
		app.io.note(`Reading back what was written: ${rowsText(countWritten(written))}.`);
		const what = { recorded, runs, mode, name, started, unreadable: Exit.failedRows };
		const withOutage = { ...flags, maxOutage: flags.maxOutage ?? MAX_OUTAGE };
		const { counts, unexplained, stop: early } = await verifyRows(what, { ...context, flags: withOutage });
		const verify = { counts, unexplained, again: await againText(run, runs, counts, flags) };
		return { verify, stop: early && { ...early, hint: `What was written is recorded. Verify it with: ${later}` } };
	} catch (error) {
		return { stop: stopFromError(error) };
	}
}

/** The next command if something is lost or could not be checked. */
export async function againText(
	run: string,
	runs: RunStore,
	{ mode, lost, changed_since: changed }: VerifyCounts,
	flags: GlobalFlags,
): Promise<string> {
	const verify = withFlags(`ragtag runs verify ${run}`, flags);
	if (lost === 0) return `Check again with: ${verify}`;
	if (mode === "sample") return `List all that is lost with: ${verify}`;
	const file = await runs.read(run);
	const again = file && againCommand(file, flags);
	if (file === undefined || again === undefined) return `Check again with: ${verify}`;
	const also = changed > 0 && !sendsPlan(file.command) ? ", which also overwrites what was changed since" : "";
	return `Send what was lost again${also}: ${again}`;
}

/** The command that sends the lost writes of a run again; undefined where none is known. */
function againCommand({ command, manifest: { path }, options }: RunFile, flags: GlobalFlags): string | undefined {
	// The plan alone says what is sent.
	if (sendsPlan(command)) return withFlags(`ragtag ${APPLY} ${quoted(path)}`, flags);
	const purpose = purposeOf(command);
	const sendAgain = purpose && PURPOSES[purpose].sendAgain;
	// No flag names the types of columns.
	if (sendAgain === undefined || options["types"] !== undefined) return undefined;
	const words = [command, quoted(path), ...payloadWords(options, path), ...sendAgain];
	return withFlags(`ragtag ${words.join(" ")}`, flags);
}

/** The recorded flags that say how the manifest is read, as the user types them. Defaults are left out. */
function payloadWords(options: RunFile["options"], path: string): string[] {
	const flags = readable(options);
	const { dataset, mode, deleteToken, empty, schema, onDuplicate, filesRoot } = flags;
	const single: readonly (readonly [string, string | undefined])[] = [
		["-d", dataset],
		["--mode", mode === "replace" ? undefined : mode],
		["--delete-token", deleteToken],
		["--empty", empty === "skip" ? undefined : empty],
		["--schema", schema],
		["--on-duplicate", onDuplicate === "error" ? undefined : onDuplicate],
		["--files-root", filesRoot === dirname(path) || options["onExisting"] === undefined ? undefined : filesRoot],
		...(flags.map ?? []).map(([column, key]) => ["--map", `${column}=${key}`] as const),
		...(flags.ignore ?? []).map((column) => ["--ignore", column] as const),
		...(flags.set ?? []).map((setting) => ["--set", setting] as const),
		["--sheet", flags.sheet],
		["--encoding", flags.encoding],
		["--date-format", flags.dateFormat],
		["--list-separator", flags.listSeparator],
		["--true", flags.true?.join(",")],
		["--false", flags.false?.join(",")],
	];
	const words = single.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
	if (flags.decimalComma === true) words.push("--decimal-comma");
	if (flags.skipInvalid === true) words.push("--skip-invalid");
	return words;
}

/** The recorded flags; none if the record is damaged. Commands that use the record report that. */
function readable(options: RunFile["options"]): ReturnType<typeof payloadFlags> {
	try {
		return payloadFlags(options);
	} catch (error) {
		if (error instanceof CliError) return {};
		throw error;
	}
}
