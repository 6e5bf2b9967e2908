import { dirname } from "node:path";
import { countWritten } from "../../outcomes.ts";
import { CliError, Exit } from "../../errors.ts";
import { purposeOf, PURPOSES } from "../../manifest/purposes.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { payloadFlags } from "../../flags/payload-options.ts";
import { rowsText } from "../../text/words.ts";
import { readRun } from "../../run/journal/reader.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { MAX_OUTAGE } from "../../run/rate/outage.ts";
import type { Stop, VerifyCounts } from "../../run/types.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import { APPLY, sendsPlan } from "../plan/open-plan.ts";
import type { Ended } from "../../report/summary.ts";
import type { Run } from "../open-run.ts";
import { stopFromError } from "../../run/stop/shutdown.ts";
import { type ToVerify, verifyRows } from "./verify-rows.ts";

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
		const recorded = await readRun(runs.path(run));
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
