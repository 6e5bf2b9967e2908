import { CliError, Exit } from "../../errors.ts";
import type { RecordedRun } from "../../run/journal/open.ts";
import { contradiction, type RunFile } from "../../run/recorded/run-file.ts";
import { noRun, type Runs } from "../../run/recorded/runs.ts";
import { isOver, supersededBy } from "../../run/recorded/superseded.ts";
import { hasWritten, readReport, stateOf } from "./read.ts";

/** The newest run that may have written anything. @throws CliError exit 2 where there is none */
export async function findThatWrote(runs: Runs): Promise<RunFile> {
	for (const file of await runs.files()) {
		if (hasWritten((await readReport(runs, file)).recorded)) return file;
	}
	throw new CliError("no recorded run has written anything", {
		exit: Exit.usage,
		hint: "ragtag runs list shows those that there are.",
	});
}

/**
 * The same for a command that writes or takes back.
 *
 * @param verb of `ragtag runs`
 * @throws CliError exit 2 where there is none, or where the clock says that another is newer
 */
export async function newestThatWrote(verb: string, runs: Runs): Promise<RunFile> {
	return undisputed(verb, await findThatWrote(runs), await runs.files());
}

/**
 * The newest run of which any row was sent or has an outcome; where none is, the newest of all. A row that failed in
 * the look before its write was not sent, and is what one wants to see and to try again.
 *
 * @throws CliError exit 2 where no run is recorded
 */
export async function findThatDid(runs: Runs): Promise<RunFile> {
	const all = await runs.files();
	for (const file of all) {
		const { recorded } = await readReport(runs, file);
		if (hasWritten(recorded) || hasSettled(recorded)) return file;
	}
	const [last] = all;
	if (last === undefined) throw noRun();
	return last;
}

function hasSettled(recorded: RecordedRun | undefined): boolean {
	if (recorded === undefined) return false;
	const { rows, pending, invalid, duplicateSkipped } = recorded.state.totals();
	return rows - pending - invalid - duplicateSkipped > 0;
}

/** The same for a command that writes. @throws CliError exit 2 where the clock says that another is newer */
export async function newestThatDid(verb: string, runs: Runs): Promise<RunFile> {
	return undisputed(verb, await findThatDid(runs), await runs.files());
}

/**
 * The newest run that is still to be gone on with.
 *
 * @throws CliError exit 2 where there is none, or where the clock says that another run is newer; 7 or 8 where one that
 *   may be it can't be read
 */
export async function newestUnfinished(runs: Runs): Promise<RunFile> {
	const all = await runs.files();
	const superseded: string[] = [];
	for (const file of all) {
		const { run } = file;
		if (await isOver(runs, run)) continue;
		// Of a damaged one it can't be known whether it is what was meant: its error says how to mend it.
		const { recorded } = await readReport(runs, file);
		const state = stateOf(recorded, await supersededBy(runs, file, all));
		if (state === "unfinished") return undisputed("resume", file, all);
		if (state === "superseded") superseded.push(run);
	}
	if (all.length === 0) throw noRun();
	const [first] = superseded;
	throw new CliError("no recorded run is unfinished; nothing was sent", {
		exit: Exit.usage,
		hint:
			first === undefined
				? "ragtag runs list shows those that there are; ragtag runs retry tries failed rows again."
				: `Those that newer runs have superseded go on only by name: ${superseded.join(", ")}.`,
	});
}

function undisputed(verb: string, file: RunFile, all: readonly RunFile[]): RunFile {
	const other = contradiction(file, all);
	if (other === undefined) return file;
	throw new CliError(
		`run ${file.run} began last, but by the clock run ${other.run} did: the clock of this machine was changed; nothing was sent`,
		{
			exit: Exit.usage,
			hint: `Name the run that you mean: ragtag runs ${verb} ${file.run}, or ragtag runs ${verb} ${other.run}. ragtag runs list shows them.`,
		},
	);
}
