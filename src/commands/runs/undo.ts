import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { unsentTotals } from "../../run/journal/memory-journal.ts";
import { numberText, documentsText, rowsText } from "../../text/words.ts";
import { LONGEST_READ_BACK_MS } from "../../run/retry/retry.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import { show } from "../../text/show.ts";
import { askForYes } from "../../workflows/ask-for-yes.ts";
import type { Done } from "../../flags/declare.ts";
import { addDryRunOptions, checkDryRunFlags, type DryRunFlags } from "../../flags/change-flags.ts";
import { checkFailedPath } from "../../workflows/run/failed-file.ts";
import { addBodyOption, addRunOptions, type RunFlags, withSession } from "../../flags/flags.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { runPlan } from "../../workflows/plan/run-plan.ts";
import { report } from "../../workflows/run/run-report.ts";
import { printVersionLine } from "../../workflows/version-line.ts";
import { planUndo, type UndoPlan } from "../../workflows/undo/undo-plan.ts";
import { undoKind } from "../../workflows/undo/undo-run.ts";
import { undoManifestName } from "../../run/recorded/superseded.ts";
import { hasWritten, newestThatWrote, readReport, targetOf } from "../../workflows/recorded/recorded-run.ts";

export type UndoOptions = RunFlags & DryRunFlags & { readonly yes?: boolean };

/** Declares the interface of `runs undo`. What it does is in `undo`. */
export function undoCommand(runs: Command, app: App, done: Done, run = undo): void {
	const command = runs
		.command("undo")
		.summary("undo a run: restore its documents")
		.description(
			"Restores the metadata that the documents of a run had before it, and removes the documents that it uploaded. A document that was changed after the run is left alone, and its row fails. Asks first. A run of docs rm can't be undone.",
		)
		.argument("[run]", "name of the run (default: the newest that wrote)")
		.option("--yes", "undoes without asking")
		.addHelpText(
			"before",
			"Examples:\n  ragtag runs undo --dry-run\n  ragtag runs undo 20261121T170000-1a2b3c --yes\n  ragtag runs undo --yes --json\n",
		);
	addBodyOption(
		addRunOptions(addDryRunOptions(command), "also restores documents that were changed after the run; "),
	).action(async (name: string | undefined) => {
		done(await run(name, command.optsWithGlobals<UndoOptions>(), app));
	});
}

export async function undo(name: string | undefined, options: UndoOptions, app: App): Promise<ExitCode> {
	const { io, processes } = app;
	const { yes = false, dryRun = false, json = false, force = false } = options;
	checkDryRunFlags(options);
	if (!yes && !dryRun && !io.stdinIsTerminal) {
		throw new CliError("runs undo asks for confirmation, and standard input is no terminal; nothing was sent", {
			exit: Exit.usage,
			hint: "Preview it with --dry-run, then add --yes.",
		});
	}
	const wanted = await app.settings(options);
	const runs = app.runs(wanted);
	const file = name === undefined ? await newestThatWrote("undo", runs) : await runs.find(name);
	if (file.command === PURPOSES.rm.command) {
		throw new CliError(`run ${file.run} removed documents, and a removal can't be undone; nothing was sent`, {
			exit: Exit.usage,
			hint: "Upload the files again: ragtag docs upload.",
		});
	}
	if (json) await printVersionLine(app);
	const nothing = async (why: string): Promise<ExitCode> => {
		io.note(`${why}, so there is nothing to undo.`);
		const totals = unsentTotals({ rows: 0, invalid: 0, duplicateSkipped: 0 });
		return report({ totals, seconds: 0, stop: undefined }, options, app);
	};
	if (!hasWritten((await readReport(runs, file)).recorded)) return nothing(`Run ${file.run} sent nothing`);
	const flags = { ...options, ...(await targetOf("undo", file, options, app)) };
	return withSession(flags, app, async (session, settings) => {
		if (options.failed !== undefined) await checkFailedPath(options.failed, "-");
		// A run that is still going would write behind the back of what undoes it.
		const lock = await lockContent(file, { runs, processes, force });
		try {
			// Read behind the lock: until then the run may have gone on.
			const { recorded } = await readReport(runs, file);
			if (!hasWritten(recorded)) return await nothing(`Run ${file.run} sent nothing`);
			const { normalise } = (await session.service.known(session.request)).dialect.flavour;
			const plan = await planUndo(recorded, file, normalise, await app.temporaryFolder(settings));
			try {
				const about = `Run ${file.run} (${file.command}, ${show(file.manifest.name)}), started ${file.started}`;
				if (plan.restored + plan.removed + plan.impossible === 0) return await nothing(`${about}, changed nothing`);
				if (dryRun) io.note(`${about}: ${todoText(plan)}.`);
				const before = async (): Promise<void> => {
					io.note(`${about}: ${todoText(plan)}.`);
					if (!yes) await askForYes(`Undo run ${file.run}?`, app);
				};
				const lag = Math.min(LONGEST_READ_BACK_MS, plan.lastSent + LONGEST_READ_BACK_MS - Date.now());
				const lagsUntil = app.clock.now() + lag;
				const kind = undoKind(undoManifestName(file.run), { before, lagsUntil, takesBack: file.run });
				return await runPlan(plan.path, kind, flags, session, settings, app);
			} finally {
				await plan.close();
			}
		} finally {
			await lock.release();
		}
	});
}

/** `98 documents are restored, 3 uploaded documents are removed`. */
function todoText({ restored, removed, impossible, impossibleIds }: UndoPlan): string {
	const parts: string[] = [];
	if (restored > 0) parts.push(`${documentsText(restored)} ${restored === 1 ? "is" : "are"} restored`);
	if (removed > 0)
		parts.push(`${numberText(removed)} uploaded ${removed === 1 ? "document is" : "documents are"} removed`);
	if (impossible > 0) {
		const more = impossible > impossibleIds.length ? ", ..." : "";
		const which = impossibleIds.length === 0 ? "" : ` (${impossibleIds.map((id) => show(id)).join(", ")}${more})`;
		parts.push(`${rowsText(impossible)} can't be undone, because their previous values are not known${which}`);
	}
	return parts.join(", ");
}
