import { chosenRun } from "../../workflows/recorded/choose-run.ts";
import { type DryRunFlags, dryRunOptions } from "../../flags/change-flags.ts";
import { undoneOf } from "../../report/summary.ts";
import { documentsText, numberText, rowsText } from "../../text/words.ts";
import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { CONFLICT } from "../../run/operations/planned.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import { LONGEST_READ_BACK_MS } from "../../run/retry/retry.ts";
import { show } from "../../text/show.ts";
import { declare, type Resume, toggle } from "../../flags/declare.ts";
import { BODY, forceOption, RUN, type RunFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { checkCanAsk, refused } from "../../flags/refuse.ts";
import { askAbout } from "../../workflows/question.ts";
import { connectRun, connectTo, type Run } from "../../workflows/open-run.ts";
import { type PlanKind, type PlannedRow, planRows, type PlanSource } from "../../workflows/plan/plan-rows.ts";
import { forceHint, planPrinter, type PlanRules, previewPlanned, sendPlanned } from "../../workflows/plan/planned.ts";
import { policyPrescan, unchecked } from "../../workflows/policy/prescan.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { endBefore, NO_ROWS, printVersionLine } from "../../workflows/report.ts";
import { rowsToSend } from "../../workflows/run/earlier-runs.ts";
import { newerRowsOf, unchangedText, unlessNewer } from "../../workflows/run/newer-rows.ts";
import type { RunRecord, TakesBack } from "../../workflows/run/open-record.ts";
import { runRows } from "../../workflows/run/run-rows.ts";
import { foldRecord } from "../../workflows/sync/fold.ts";
import { believeNone, lockSync } from "../../workflows/sync/send-sync.ts";
import { syncUndoSteps } from "../../workflows/sync/undo-sync.ts";
import { planUndo, type UndoPlan } from "../../workflows/plan/undo-plan.ts";
import { undoneRunOf, UNDO_COMMAND, undoManifestName } from "../../run/recorded/unfinished.ts";

type UndoOptions = RunFlags & DryRunFlags;

export const undoCommand = declare({
	summary: "undo a run: restore its documents",
	description:
		"Restores the metadata that the documents of a run had before it, and removes the documents that it uploaded. A document that was changed after the run is left alone, and its row fails. Asks first. A run of docs rm can't be undone.",
	examples: "ragtag runs undo --dry-run\nragtag runs undo 20261121T170000-1a2b3c --yes\nragtag runs undo --yes --json",
	arguments: { "[run]": "name of the run (default: the newest that wrote)" },
	options: {
		...RUN,
		...dryRunOptions(),
		...BODY,
		yes: toggle("-y, --yes", "undoes without asking"),
		force: forceOption("also restores documents that were changed after the run; "),
	},
	run: undo,
	resume: resumeUndo,
});

/** The commands whose runs can't be undone: what they did, and a hint. */
const NOT_UNDONE: Readonly<Record<string, readonly [did: string, hint: string]>> = {
	[PURPOSES.rm.command]: [
		"removed documents, and a removal can't be undone",
		"Upload the files again: ragtag docs upload.",
	],
	[PURPOSES.download.command]: [
		"downloaded documents, and changed none of them",
		"There is nothing to undo: its files stay until they are removed.",
	],
	[PURPOSES.parse.command]: [
		"parsed documents, and parsing can't be undone",
		"The chunks that the documents had are gone; their metadata was not changed.",
	],
};

async function undo({ run: name, ...options }: UndoOptions, app: App): Promise<ExitCode> {
	const { yes = false, dryRun = false } = options;
	checkFlags(options, app);
	const { file, runs } = await chosenRun(name, "newest that wrote", options, app);
	const [did, hint] = NOT_UNDONE[file.command] ?? [];
	if (did !== undefined) throw refused(`run ${file.run} ${did}`, hint);
	if (options.json === true) await printVersionLine(app);
	const reading = (): void => app.monitor.enter("reading", `the journal of ${file.run}`);
	reading();
	if ((await runs.journal(file.run))?.state.wrote !== true)
		return nothingToUndo(options, app, `Run ${file.run} sent nothing`);
	await using run = await connectTo("undo", file, options, app);
	await using _lock = await lockOf(file, run);
	reading();
	// Read only now that the lock is held: before, the run may have gone on.
	const recorded = await runs.journal(file.run);
	if (recorded?.state.wrote !== true) return nothingToUndo(options, app, `Run ${file.run} sent nothing`);
	const { session, settings } = run;
	const { normalise } = (await session.service.known(session.request)).dialect.flavour;
	const steps = await syncUndoSteps(run, file, normalise);
	await using _sync = steps && (await lockSync(run, steps.sync));
	believeNone(run, steps?.sync);
	const plan = await planUndo(recorded, file, normalise, { parent: await app.temporaryFolder(settings), steps });
	const about = `Run ${file.run} (${file.command}, ${show(file.manifest.name)}), started ${file.started}`;
	if (plan.restored + plan.removed + plan.broughtBack + plan.impossible === 0) {
		return nothingToUndo(options, app, `${about}, changed nothing`);
	}
	if (dryRun) app.io.note(`${about}: ${todoText(plan, "would")}.`);
	await using rows = await planRows(run, plan.path, undoKind(undoManifestName(file.run)));
	const mode = { isUndo: true, isForced: options.force === true };
	const newer = await newerRowsOf(runs, file, await runs.files(), mode);
	if (dryRun) {
		await untilListed(plan, app);
		return await preview(unchecked(run), rows, unlessNewer(newer, previewPlanned(rulesOf(run))), planPrinter(run));
	}
	app.io.note(`${about}: ${todoText(plan, "will")}.`);
	const unchanged = newer === undefined ? "" : await unchangedText(newer, rows);
	if (!yes) {
		const asked = `Undo run ${file.run}, which wrote`;
		await askAbout(run, rows, (counted, lines) => `${asked} ${counted}?\n${lines}${unchanged}`);
	} else if (unchanged !== "") app.io.note(unchanged);
	await untilListed(plan, app);
	return await sendUndo(run, rows, { run: file.run, newer });
}

/** Resumes an undo. It asks again: its documents may have been changed since. */
async function resumeUndo(...[file, flags, app]: Parameters<Resume>): Promise<ExitCode> {
	checkFlags(flags, app);
	if (flags.json === true) await printVersionLine(app);
	const settings = await app.settings(flags);
	const { path, name } = file.manifest;
	const takenBack = undoneRunOf(file);
	const undone = takenBack === undefined ? undefined : await app.runs(settings).read(takenBack);
	// As when it began: the run that it takes back must not go on meanwhile. One that was pruned can't.
	await using _lock = undone === undefined ? undefined : await lockOf(undone, { flags, settings, app });
	await using run = await connectRun(UNDO_COMMAND, flags, app);
	await using rows = await planRows(run, path, undoKind(name));
	believeNone(run, rows.header.sync);
	const open = flags.yes === true ? undefined : await rowsToSend(run, rows);
	await askAbout(run, open, (counted, lines) => `Go on with the undo, which restores ${counted}?\n${lines}`);
	return await sendUndo(run, rows);
}

/** @throws CliError exit 2 for flags that mean nothing without others, and where standard input is no terminal to confirm on */
function checkFlags(options: UndoOptions, { io }: App): void {
	checkCanAsk(UNDO_COMMAND, options, io.stdinIsTerminal, "Preview it with --dry-run, then add --yes.");
}

/** Documents get back exactly what they had. The plan of an undo is always one of whole values. */
function rulesOf({ flags: { force } }: Run): PlanRules {
	return { forced: force === true ? "replace" : undefined, since: "the run", isExact: true, mustKnow: true };
}

/** @param name what messages call the undo, as other runs are called by their manifest */
function undoKind(name: string): PlanKind {
	return { name, actions: ["update", "remove"], countsUnplanned: true };
}

/** Waits until lists show the run's last write: a document would seem to have its previous values already. */
function untilListed({ lastSent }: UndoPlan, { clock, signal }: App): Promise<void> {
	const since = Math.max(0, Date.now() - lastSent);
	return clock.sleep(Math.max(0, LONGEST_READ_BACK_MS - since), signal);
}

/** A run that is still going would overwrite what its undo writes. */
async function lockOf(
	file: RunFile,
	{ flags, settings, app }: Pick<Run, "flags" | "settings" | "app">,
): Promise<AsyncDisposable> {
	return await lockContent(file, { runs: app.runs(settings), force: flags.force === true });
}

async function sendUndo(run: Run, rows: PlanSource, takesBack?: TakesBack): Promise<ExitCode> {
	const rules = rulesOf(run);
	const allowed = await policyPrescan(unchecked(run), rows, previewPlanned(rules));
	return await runRows(run, allowed, sendPlanned(run, rules), {
		takesBack,
		ending: async (record) => {
			const { journal } = record;
			const undone = { name: rows.name, counts: undoneOf(journal.totals(), journal.state.failedWith(CONFLICT)) };
			const { sync } = rows.header;
			const folded = sync && (await foldRecord(record, sync));
			return { undone, next: forceHint(record) ?? nextOfUndo(record), ...folded };
		},
	});
}

/** The failed rows of an undo are not offered as a manifest: docs tag would clear the document of a removal. */
function nextOfUndo({ name, run, journal }: RunRecord<PlannedRow>): string | undefined {
	const { failed, invalid } = journal.totals();
	if (failed > 0) return `Try the failed rows again: ${withFlags(`ragtag runs retry ${name}`, run.flags)}`;
	return invalid > 0 ? "The others were not changed: ragtag docs list shows what they have." : undefined;
}

function nothingToUndo(flags: UndoOptions, app: App, why: string): never {
	app.io.note(`${why}, so there is nothing to undo.`);
	return endBefore({ flags, app }, NO_ROWS, undefined);
}

/** `98 documents will be restored, 3 uploaded documents will be removed`. */
function todoText(
	{ restored, removed, broughtBack, impossible, impossibleIds }: UndoPlan,
	verb: "will" | "would",
): string {
	const parts: string[] = [];
	if (restored > 0) parts.push(`${documentsText(restored)} ${verb} be restored`);
	if (removed > 0) {
		parts.push(`${numberText(removed)} uploaded ${removed === 1 ? "document" : "documents"} ${verb} be removed`);
	}
	if (broughtBack > 0) parts.push(`${documentsText(broughtBack)} ${verb} be uploaded again, with new ids`);
	if (impossible > 0) {
		const more = impossible > impossibleIds.length ? ", ..." : "";
		const which = impossibleIds.length === 0 ? "" : ` (${impossibleIds.map((id) => show(id)).join(", ")}${more})`;
		parts.push(`${rowsText(impossible)} can't be undone, because their previous values are not known${which}`);
	}
	return parts.join(", ");
}
