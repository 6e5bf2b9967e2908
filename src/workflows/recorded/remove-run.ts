import { areDisjoint, shardIn } from "../../shard.ts";
import { CliError, Exit, reason } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { longFiles, packRun } from "../../run/journal/packed.ts";
import { Locked } from "../../run/journal/lock.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { runWithoutFile } from "../../run/newer/newer-runs.ts";
import { keepTouches } from "../../run/newer/run-touches.ts";
import { datasetIn, lockContent } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import { type PruneCandidate, pruneCandidate } from "./prune-candidate.ts";

/** The parts that the removal of records needs. */
export type Removal = {
	readonly runs: RunStore;
	readonly processes: Processes;
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
export async function removeRun(candidate: WhichRun, removal: Removal): Promise<string | undefined> {
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
		const file = (await runs.read(run)) ?? (await runWithoutFile(runs, run, known).catch(() => undefined));
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

/** Compresses the files of a finished run whose end did not: it was killed there, or they were too long. */
export async function packFinished(candidate: WhichRun, removal: Removal): Promise<void> {
	const { runs } = removal;
	const folder = runs.path(candidate.run);
	if ((await longFiles(folder)).length === 0) return;
	await whileLocked(candidate, removal, async () => {
		const now = await pruneCandidate(candidate.run, runs);
		if (now !== undefined && isEnded(now)) await packRun(folder);
		return undefined;
	});
}

/** Whether a run has nothing left to do. */
export function isEnded({ state }: PruneCandidate): boolean {
	return state === "finished" || state === "failed rows" || state === "undone";
}

type WhichRun = Pick<PruneCandidate, "run" | "recordedWork">;

/** @returns why the lock could not be taken, or what `work` returns */
async function whileLocked(
	{ run, recordedWork }: WhichRun,
	{ runs, processes, locked, flags }: Removal,
	work: () => Promise<string | undefined>,
): Promise<string | undefined> {
	// It has no record yet and is old, so no process works on it.
	const lock =
		recordedWork === undefined || (locked !== undefined && isSameContent(locked, recordedWork))
			? undefined
			: await lockContent(recordedWork, { runs, processes, force: false }).catch((error: unknown) =>
					whyLocked(error, run, flags),
				);
	if (typeof lock === "string") return lock;
	try {
		return await work();
	} finally {
		await lock?.release();
	}
}

type RecordedWork = NonNullable<PruneCandidate["recordedWork"]>;

function isSameContent(one: RecordedWork, other: RecordedWork): boolean {
	const isSame = one.manifest.sha256 === other.manifest.sha256 && datasetIn(one) === datasetIn(other);
	return isSame && !areDisjoint(shardIn(one.options ?? {}), shardIn(other.options ?? {}));
}

function whyLocked(error: unknown, run: string, flags: GlobalFlags): string {
	if (!(error instanceof CliError) || !(error.cause instanceof Locked)) throw error;
	const { owner, forcible } = error.cause;
	if (!forcible) return "it or another run of its manifest is in progress";
	const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}`;
	const take = withFlags(`ragtag runs repair ${run} --force`, flags);
	return `${who} holds its lock, and can't be checked from this machine; if that process has certainly ended, ${take} takes the lock`;
}
