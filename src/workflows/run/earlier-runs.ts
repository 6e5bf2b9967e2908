import { countSettled } from "../../outcomes.ts";
import { type FindUnfinishedOptions, ForeignRun, findUnfinished, type RunSpec } from "../../run/recorded/unfinished.ts";
import { numberText, rowsText } from "../../text/words.ts";
import { CliError, Exit } from "../../errors.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { sendingOf } from "../../run/recorded/run-file.ts";
import { type Recording } from "../../run/recorded/recording.ts";
import { SUPERSEDED, type Totals } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { globalFlags, quoted, resumeCommand, withFlags } from "../../flags/next-command.ts";
import { VERSION } from "../../version.ts";
import type { Run } from "../open-run.ts";
import { type RowSource, unsettled } from "../rows/row-source.ts";
import { newerRowsOf, touchedSince } from "./newer-rows.ts";

/** The task of a run, for its record and for the comparison with earlier runs. @param takesBack the run that it undoes */
export function runSpecOf(
	{ command, flags, session: { baseUrl } }: Run,
	source: Omit<RowSource, "read">,
	takesBack?: string,
): RunSpec {
	const { name, rows, invalid, duplicateSkipped, content, linesOf, shard } = source;
	const others = shard === undefined ? {} : { otherRows: shard.otherRows };
	const path = "path" in content.source ? content.source.path : null;
	return {
		command,
		version: VERSION,
		baseUrl,
		manifest: { name, path, sha256: content.sha256, bytes: content.bytes, rows, invalid, duplicateSkipped, ...others },
		madeFrom: linesOf,
		source: content.source,
		options: source.options,
		sending: sendingOf(flags),
		flags: globalFlags(flags),
		undoes: takesBack,
	};
}

/** A run that is resumed. */
type Unfinished = { readonly run: string; readonly totals: Totals; isSettled(index: number): boolean };

/** The run that these rows would resume; undefined if they begin a new one. */
export async function unfinishedRun(run: Run, rows: RowSource): Promise<Unfinished | undefined> {
	const { flags } = run;
	const options = resumeOptions(run, rows);
	if (options.resume === false) return undefined;
	const wanted = runSpecOf(run, rows);
	const { resume } = await findUnfinished(wanted, options).catch((error: unknown) => {
		throw foreignExplained(error, wanted, flags);
	});
	if (resume === undefined) return undefined;
	const { header, state } = resume;
	return {
		run: header.run,
		totals: state.totals(),
		isSettled: (index) => {
			const status = state.statusOf(index);
			const isReopened = flags.reopen === true && (flags.force === true || state.codeOf(index) !== SUPERSEDED);
			return status !== undefined && !(isReopened && status === "failed");
		},
	};
}

/** The rows that a run would send, for a question; undefined where none is left, and nothing need be asked. */
export async function rowsToSend(run: Run, rows: RowSource): Promise<Pick<RowSource, "read"> | undefined> {
	const { flags, settings, app } = run;
	const resumed = await unfinishedRun(run, rows);
	if (resumed === undefined) return rows;
	const runs = app.runs(settings);
	const file = await runs.find(resumed.run);
	const newer = await newerRowsOf(runs, file, await runs.files(), { isForced: flags.force === true });
	const open = {
		async *read() {
			for await (const row of unsettled(rows, resumed)) {
				if (newer?.errorOf(row.datasetId, row.documentId) === undefined) yield row;
			}
		},
	};
	for await (const _ of open.read()) return open;
	return undefined;
}

/**
 * Commands whose `--resume` goes on although newer runs have touched documents: a second upload or removal would do harm,
 * parsing again would do all of it again, and a download writes to no document.
 */
const GOES_ON: readonly string[] = (["upload", "rm", "download", "parse"] as const).map(
	(each) => PURPOSES[each].command,
);

/** Commands whose runs can't be undone. */
const NO_UNDO: readonly string[] = [PURPOSES.rm.command, PURPOSES.parse.command];

/** The run that is to be resumed: by name, the newest of these rows, or none. */
export function resumeOptions(run: Run, rows: Pick<RowSource, "read">): FindUnfinishedOptions {
	const { command, flags, settings, app } = run;
	const runs = app.runs(settings);
	const beginsAnew = !GOES_ON.includes(command) && flags.force !== true;
	return {
		runs,
		now: () => new Date(),
		resume: flags.run ?? flags.resume ?? false,
		touchedSince: beginsAnew ? (file) => touchedSince(runs, file, rows) : undefined,
	};
}

type Opened = Pick<Recording, "run" | "resumed" | "notResumed" | "superseded">;

/**
 * The notes of a run about earlier ones: whether it resumes one, and which runs it supersedes.
 *
 * @param asked whether `--resume` was given
 * @param totals of the run as it begins, after the failed rows that are retried were opened
 */
export function beginningNotes(
	{ run, resumed, notResumed, superseded }: Opened,
	asked: boolean,
	totals: Totals,
	flags: GlobalFlags,
): string[] {
	const notes: string[] = [];
	if (resumed !== undefined) notes.push(resumedText(run, resumed.inDoubt, totals));
	else if (notResumed !== undefined) {
		notes.push(`Run ${notResumed.run} is unfinished and is not resumed: ${notResumed.why}; a new one begins.`);
	} else if (asked) notes.push("No unfinished run of this manifest with these options: a new one begins.");
	for (const old of superseded) {
		notes.push(
			`Run ${old} did not end, and is superseded by this one. It is resumed only by name: ${resumeCommand(old, flags)}`,
		);
	}
	return notes;
}

/** `Resuming run R: 412,096 rows done before, 587,843 left; 61 of these may have been sent, and sending them again is harmless.` */
function resumedText(run: string, inDoubt: number, totals: Totals): string {
	// An upload or a removal is searched for before it is repeated, and an update gives the same values again.
	const which =
		inDoubt === 1
			? "1 of these may have been sent, and sending it"
			: `${numberText(inDoubt)} of these may have been sent, and sending them`;
	const doubt = inDoubt === 0 ? "" : `; ${which} again is harmless`;
	return `Resuming run ${run}: ${rowsText(countSettled(totals))} done before, ${numberText(totals.pending)} left${doubt}.`;
}

/** Adds advice to the error of a named run that does not fit the present manifest; returns any other error unchanged. */
export function foreignExplained(
	error: unknown,
	{ command, manifest }: Pick<RunSpec, "command" | "manifest">,
	flags: GlobalFlags,
): unknown {
	if (!(error instanceof ForeignRun)) return error;
	const { run } = error;
	const ways = [
		`restore ${show(manifest.name)}, options and target, and run the same command again`,
		manifest.path === null
			? `begin again with ragtag ${command}`
			: `begin again with ragtag ${command} ${quoted(manifest.name)} and its options`,
		...(NO_UNDO.includes(command) ? [] : [`undo what it wrote: ${withFlags(`ragtag runs undo ${run}`, flags)}`]),
		`remove its record: ${withFlags(`ragtag runs prune ${run} --all`, flags)}`,
	];
	return new CliError(`${error.message}; nothing was sent`, {
		exit: Exit.foreign,
		hint: `Choices: ${ways.join("; or ")}.`,
		cause: error,
	});
}
