import { runsText } from "../../text/words.ts";
import { ageText } from "../../text/times.ts";
import { reason } from "../../errors.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { startOfRun } from "../../run/recorded/run-file.ts";
import type { Run } from "../open-run.ts";
import { type PruneCandidate, pruneCandidate } from "./prune-candidate.ts";
import { KEPT_RUNS, newestThatWrote } from "./recorded-run.ts";
import { isEnded, removeRun } from "./remove-run.ts";

/** Milliseconds that the end of a run may take for this. What is left then is done at the end of the next run. */
const LONGEST = 2_000;

/** The parts of a run that the removal of old records needs. */
type PruningRun = Pick<Run, "flags" | "settings"> & {
	readonly app: Pick<Run["app"], "clock" | "io" | "processes" | "signal">;
};

/**
 * Removes the records of finished runs that ended longer ago than `keep_runs`, but never those of the newest runs. It never
 * throws: an error is a note, since the run itself has ended well.
 *
 * @param own the run that ends now, which stays
 */
export async function pruneOldRuns(run: PruningRun, runs: RunStore, own: string): Promise<void> {
	const { io } = run.app;
	const { value: age, origin } = run.settings.keepRuns;
	if (age === "forever") return;
	try {
		const removed = await removeOlder(run, runs, { own, age });
		if (removed > 0) {
			io.note(`Removed ${runsText(removed)} that ended more than ${ageText(age)} ago (keep_runs, ${origin}).`);
		}
	} catch (error) {
		io.note(`Records of old runs could not be removed: ${reason(error)}`);
	}
}

async function removeOlder(
	{ app, flags }: PruningRun,
	runs: RunStore,
	{ own, age }: { readonly own: string; readonly age: number },
): Promise<number> {
	const { clock, processes, signal } = app;
	const until = clock.now() + LONGEST;
	const before = Date.now() - age;
	// A run ends after it began, so most folders need not be read.
	const old = (await runs.names()).filter((name) => name !== own && startOfRun(name) < before).toReversed();
	if (old.length === 0) return 0;
	const all = await runs.files();
	const newest = await newestThatWrote(KEPT_RUNS, all, runs);
	const staysBecause = (candidate: PruneCandidate): string | undefined =>
		isOldAndFinished(candidate, before) ? undefined : "it is needed";
	const locked = all.find(({ run }) => run === own);
	let removed = 0;
	for (const name of old.filter((each) => !newest.has(each))) {
		if (signal.aborted || clock.now() > until) break;
		const candidate = await pruneCandidate(name, runs);
		if (candidate === undefined || !isOldAndFinished(candidate, before)) continue;
		const why = await removeRun(candidate, { runs, processes, all, staysBecause, locked, flags });
		if (why === undefined) removed += 1;
	}
	await runs.sweep();
	return removed;
}

function isOldAndFinished(candidate: PruneCandidate, before: number): boolean {
	return isEnded(candidate) && candidate.ended < before;
}
