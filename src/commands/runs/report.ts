import { checkManifestOfRun } from "../../workflows/outputs/prepare.ts";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { checkManifest } from "../../manifest/check.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { DEFAULT_PURPOSE, purposeOf, PURPOSES } from "../../manifest/purposes.ts";
import type { CheckedManifest, ManifestOptions } from "../../manifest/types.ts";
import { exitOf } from "../../report/exit.ts";
import { countsText, summaryOf } from "../../report/summary.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { manifestOptions } from "../../workflows/check/check-manifest.ts";
import { hasPlan, openPlan } from "../../workflows/plan/open-plan.ts";
import { writeFailed } from "../../workflows/rows/failed-rows.ts";
import { declare, toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import { REPORT, VERBOSITY } from "../../flags/flags.ts";
import { shardIn } from "../../shard.ts";
import { rowsOfPlan } from "../../workflows/plan/plan-rows.ts";
import { resumeCommand } from "../../flags/next-command.ts";
import { payloadFlags } from "../../flags/payload-options.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import { chosenRun, type RunsFlags, undoOfRun } from "../../workflows/recorded/choose-run.ts";
import { UNDO_COMMAND } from "../../run/recorded/unfinished.ts";

const OPTIONS = {
	...VERBOSITY,
	...REPORT,
	failed: valued("--failed <file>", "file for the rows that failed (default: in the run's folder)", parseNonEmpty),
	json: toggle("--json", "the summary as a JSON object"),
};

export const reportCommand = declare({
	summary: "write the reports of a run again, from its journal",
	description:
		"Writes the failed rows of a run again and prints its summary; for uploads, also the manifest of all new ids. With --report alone it writes the run as a page, from its record, whatever became of the manifest.",
	examples: "ragtag runs report\nragtag runs report --failed failed.csv\nragtag runs report --report run.html",
	arguments: { "[run]": "name of the run (default: the newest with any result)" },
	options: OPTIONS,
	run: report,
});

async function report({ run: name, ...flags }: RunsFlags & ValuesOf<typeof OPTIONS>, app: App): Promise<ExitCode> {
	const { io } = app;
	const { file, runs } = await chosenRun(name, "newest with a result", flags, app);
	const recorded = await runs.journal(file.run);
	await checkManifestOfRun(app, file.manifest.path);
	if (recorded === undefined) {
		throw new CliError(`run ${file.run} was stopped before it began; nothing was sent`, { exit: Exit.failedRows });
	}
	const totals = recorded.state.totals();
	const { superseded } = recorded.state;
	// `--report` is written at the end of the command, from the record of this run.
	app.runEnd.folder = runs.path(file.run);
	if (totals.failed > superseded && (flags.report === undefined || flags.failed !== undefined)) {
		let failedPath: string;
		const source = await sourceOf(file, await app.temporaryFolder(await app.settings(flags)), app);
		try {
			if (source.sha256 !== file.manifest.sha256) {
				throw new CliError(`${file.manifest.path} was changed after the run began; no report was written`, {
					exit: Exit.foreign,
					hint: "Restore it, and run the same command again.",
				});
			}
			failedPath = flags.failed ?? runs.path(file.run, `failed.${source.failedRows.ending}`);
			const failure = await writeFailed(failedPath, runs.path(file.run), source, { ...totals, superseded });
			if (failure !== undefined) throw new CliError(`${failedPath}: ${failure}`, { exit: Exit.output });
		} finally {
			await source.close();
		}
		io.note(`The rows that failed: ${failedPath}`);
	}
	const resume = totals.pending > 0 ? resumeCommand(file.run, flags) : undefined;
	const { state } = recorded;
	const same = state.noOpUpdates;
	const undo = undoOfRun(file, state, flags);
	if (flags.json === true) {
		const stop = totals.pending > 0 ? { exit: Exit.temporary, text: "" } : undefined;
		const ended = { totals, seconds: 0, stop: undefined, run: file.run, resume, same, undo };
		await io.out(`${JSON.stringify(summaryOf(ended, exitOf({ ...ended, stop })))}\n`);
	} else if (file.command === PURPOSES.upload.command) {
		await io.out(csvLine(["document_id", "name"]));
		const lines: string[] = [];
		for await (const { status, documentId, storedName } of recorded.outcomes()) {
			if (status === "uploaded") lines.push(csvLine([documentId, storedName ?? ""]));
		}
		await io.out(lines.join(""));
	}
	if (flags.report !== undefined) io.note(`The report of run ${file.run}: ${flags.report}`);
	io.note(`${countsText(totals)}.${resume === undefined ? "" : ` Resume it with: ${resume}`}`);
	return Exit.ok;
}

type RecordedSource = Pick<CheckedManifest, "read" | "failedRows" | "close"> & { readonly sha256: string };

/** The rows of a run, read again from their source. */
async function sourceOf(file: RunFile, temporaryFolder: string, { stdin, signal }: App): Promise<RecordedSource> {
	const { path } = file.manifest;
	if (hasPlan(file)) {
		const shard = shardIn(file.options);
		const plan = await openPlan(path, { stdin, temporaryFolder, actions: ["update", "remove", "fail"], shard });
		const rows = rowsOfPlan(plan, { countsUnplanned: file.command === UNDO_COMMAND, shard });
		return { ...rows, sha256: plan.sha256, close: () => plan.close() };
	}
	const reading = { stdin, signal, onProblem: () => undefined, temporaryFolder };
	const source = await checkManifest(path, await readingOf(file), reading);
	return { ...source, sha256: source.content.sha256 };
}

/** How the run read its manifest. The schema is the recorded one, as its file may have changed. */
async function readingOf({ command, options }: RunFile): Promise<ManifestOptions> {
	const { schema, ...flags } = payloadFlags(options);
	const reading = await manifestOptions(purposeOf(command) ?? DEFAULT_PURPOSE, flags, {});
	return { ...reading, schema: options["schemaContent"] ?? (schema === "none" ? schema : undefined) };
}
