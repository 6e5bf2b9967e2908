import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { rowsText } from "../../text/words.ts";
import { verdictText, verifyLine } from "../../report/verify.ts";
import { READS_IN_FLIGHT } from "../../rates.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import { showsMetadata } from "../../run/documents/before-images.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { laterRunsOf } from "../../run/verify/later-runs.ts";
import { timeIsUp } from "../../run/stop/reasons.ts";
import type { Stop, VerifyCounts, VerifyMode } from "../../run/types.ts";
import { pickRows } from "../../run/verify/picked-rows.ts";
import { verifyRun, type JudgedRow } from "../../run/verify/verify.ts";
import { show } from "../../text/show.ts";
import type { VerifyFlags } from "../../flags/flags.ts";
import type { Run } from "../open-run.ts";
import { stopOrSignal } from "../../run/stop/shutdown.ts";

/** A recorded run that is to be verified. */
export type ToVerify = {
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
