import { statSync } from "node:fs";
import { CliError, Exit, reason } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { Locked } from "../../run/storage/lock.ts";
import { JOURNAL_FILE } from "../../run/journal/reader.ts";
import { runWithoutFile } from "../../run/newer/newer-runs.ts";
import { keepTouches } from "../../run/newer/touches.ts";
import { type RunFile, startOfRun } from "../../run/recorded/run-file.ts";
import { datasetIn, lockContent, type LockedWork } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { areDisjoint, shardIn } from "../../shard.ts";
import { ageText } from "../../text/times.ts";
import { runsText } from "../../text/words.ts";
import type { Run } from "../open-run.ts";
import { factsOf, judgedRun, type RunState } from "./run-state.ts";

/** A run's folder, with what decides whether it may be removed. */
export type PruneCandidate = {
	readonly run: string;
	/** undefined where it is damaged, or the run was killed before it was written */
	readonly file: RunFile | undefined;
	readonly state: RunState;
	/** rows of its manifest; undefined where that is not known */
	readonly rows: number | undefined;
	/** when it ended, or was last written; epoch milliseconds */
	readonly ended: number;
	/** target and manifest, which name its lock; undefined where neither was recorded yet */
	readonly work: LockedWork | undefined;
};

/** Reads the folder of a run; undefined where it was removed. */
export async function pruneCandidate(run: string, runs: RunStore): Promise<PruneCandidate | undefined> {
	const folder = statSync(runs.path(run), { throwIfNoEntry: false });
	if (folder === undefined) return undefined;
	const file = await runs.read(run);
	const { facts, state: judged } = await judgedRun(run, runs);
	const isReadable = judged !== "damaged" && judged !== "other format";
	const header = file === undefined && isReadable ? (await runs.journal(run))?.header : undefined;
	const work = file ?? (header && { manifest: header.manifest });
	// Without its run file it can't be undone. If its journal has writes, it is not a run that never began.
	const unnamed = facts?.wrote === true ? "damaged" : "not begun";
	const state = file === undefined && isReadable ? unnamed : judged;
	const touched = statSync(runs.path(run, JOURNAL_FILE), { throwIfNoEntry: false }) ?? folder;
	const ended = facts?.ended === undefined ? touched.mtimeMs : Date.parse(facts.ended);
	return { run, file, state, rows: facts?.totals.rows, ended, work };
}

/** States of runs that have nothing left to do. */
const ENDED: readonly RunState[] = ["finished", "failed rows", "undone"];

/** The newest runs stay, however old they are by the clock: where it was wrong once, a run that ended just now seems old. */
export const KEPT_RUNS = 20;

/** The newest runs that may have written anything, so many at most. @param all the newest first */
export async function newestThatWrote(
	count: number,
	all: readonly RunFile[],
	runs: RunStore,
): Promise<ReadonlySet<string>> {
	const found = new Set<string>();
	for (const { run } of all) {
		if (found.size >= count) break;
		// A journal that can't be read may hold writes.
		const wrote = await factsOf(run, runs).then(
			(facts) => facts?.wrote === true,
			() => true,
		);
		if (wrote) found.add(run);
	}
	return found;
}

/** The parts that the removal of records needs. */
export type Removal = {
	readonly runs: RunStore;
	/** every recorded run */
	readonly all: readonly RunFile[];
	/** why a run may not be removed; undefined where it may */
	readonly staysBecause: (candidate: PruneCandidate) => string | undefined;
	/** a run whose lock this process holds: runs of the same content have the same lock */
	readonly locked?: RunFile | undefined;
	/** whether the record only would be removed */
	readonly isDry?: boolean;
	readonly flags: GlobalFlags;
};

/** Removes a run's record, holding the lock that a run holds while it is going on. @returns why it was left */
export async function removeRun(candidate: PruneCandidate, removal: Removal): Promise<string | undefined> {
	const { runs, all, staysBecause, isDry = false } = removal;
	const { run } = candidate;
	return whileLocked(candidate, removal, async () => {
		// Read again under the lock: the run may have been resumed before.
		const now = await pruneCandidate(run, runs);
		if (now === undefined) return "another process has removed it";
		const why = staysBecause(now);
		if (why !== undefined || isDry) return why;
		// Some of them may have been removed meanwhile, also by this process.
		const left = new Set(await runs.names());
		const others = all.filter((other) => other.run !== run && left.has(other.run));
		const known = new Set(others.map((other) => other.run));
		const file = now.file ?? (await runWithoutFile(runs, run, known).catch(() => undefined));
		if (file !== undefined) {
			await keepTouches(runs, file, others).catch((error: unknown) => {
				const text = `run ${run} stays: the list of its documents, which an older run needs, can't be written: ${reason(error)}`;
				throw new CliError(text, { exit: Exit.storage, hint: "Make room first, or remove older runs.", cause: error });
			});
		}
		await runs.remove(run);
		return undefined;
	});
}

/** @returns why the lock could not be taken, or what `work` returns */
async function whileLocked(
	{ run, work: recorded }: PruneCandidate,
	{ runs, locked, flags }: Removal,
	work: () => Promise<string | undefined>,
): Promise<string | undefined> {
	// A run without a record is old, so no process works on it.
	if (recorded === undefined || (locked !== undefined && isSameContent(locked, recorded))) return await work();
	const taken = await lockContent(recorded, { runs, force: false }).catch((error: unknown) => {
		return whyLocked(error, run, flags);
	});
	if (typeof taken === "string") return taken;
	await using _lock = taken;
	return await work();
}

function isSameContent(one: LockedWork, other: LockedWork): boolean {
	const isSame = one.manifest.sha256 === other.manifest.sha256 && datasetIn(one) === datasetIn(other);
	return isSame && !areDisjoint(shardIn(one.options ?? {}), shardIn(other.options ?? {}));
}

function whyLocked(error: unknown, run: string, flags: GlobalFlags): string {
	if (!(error instanceof CliError) || !(error.cause instanceof Locked)) throw error;
	const { owner, forcible } = error.cause;
	if (!forcible) return "it or another run of its manifest is in progress";
	const take = withFlags(`ragtag runs repair ${run} --force`, flags);
	return `process ${owner.pid} on ${owner.host} holds its lock, and can't be checked from this machine; if that process has certainly ended, ${take} takes the lock`;
}

/** Milliseconds that the end of a run may take to remove old runs. The end of the next run removes the others. */
const LONGEST = 2_000;

/**
 * Removes the records of finished runs that ended longer ago than `keep_runs`, but never those of the newest runs. It never
 * throws: an error is a note, since the run itself has ended well.
 *
 * @param own the run that ends now, which stays
 */
export async function pruneOldRuns({ app, flags, settings }: Run, runs: RunStore, own: string): Promise<void> {
	const { clock, io, signal } = app;
	const { value: age, origin } = settings.keepRuns;
	if (age === "forever") return;
	const before = Date.now() - age;
	const until = clock.now() + LONGEST;
	const staysBecause = (each: PruneCandidate): string | undefined =>
		ENDED.includes(each.state) && each.ended < before ? undefined : "it is needed";
	try {
		// A run ends after it began, so most folders need not be read.
		const old = (await runs.names()).filter((name) => name !== own && startOfRun(name) < before).toReversed();
		if (old.length === 0) return;
		const all = await runs.files();
		const newest = await newestThatWrote(KEPT_RUNS, all, runs);
		const removal = { runs, all, staysBecause, locked: all.find(({ run }) => run === own), flags };
		let removed = 0;
		for (const name of old.filter((each) => !newest.has(each))) {
			if (signal.aborted || clock.now() > until) break;
			const candidate = await pruneCandidate(name, runs);
			if (candidate === undefined || staysBecause(candidate) !== undefined) continue;
			if ((await removeRun(candidate, removal)) === undefined) removed += 1;
		}
		await runs.sweep();
		if (removed === 0) return;
		io.note(`Removed ${runsText(removed)} that ended more than ${ageText(age)} ago (keep_runs, ${origin}).`);
	} catch (error) {
		io.note(`Records of old runs could not be removed: ${reason(error)}`);
	}
}
