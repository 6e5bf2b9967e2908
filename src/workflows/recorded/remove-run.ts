import { CliError } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import { Locked } from "../../run/journal/lock.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { markReplacedRuns } from "../../run/recorded/superseded.ts";
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
export async function removeRun(
	{ run, recordedWork }: Pick<PruneCandidate, "run" | "recordedWork">,
	{ runs, processes, all, staysBecause, locked, isDry = false, flags }: Removal,
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
		// Read again under the lock: the run may have been resumed before.
		const now = await pruneCandidate(run, runs, all);
		if (now === undefined) return "another process has removed it";
		const why = staysBecause(now);
		if (why !== undefined || isDry) return why;
		await markReplacedRuns(runs, run, all);
		await runs.remove(run);
		return undefined;
	} finally {
		await lock?.release();
	}
}

type RecordedWork = NonNullable<PruneCandidate["recordedWork"]>;

function isSameContent(one: RecordedWork, other: RecordedWork): boolean {
	return one.baseUrl === other.baseUrl && one.manifest.sha256 === other.manifest.sha256;
}

function whyLocked(error: unknown, run: string, flags: GlobalFlags): string {
	if (!(error instanceof CliError) || !(error.cause instanceof Locked)) throw error;
	const { owner, forcible } = error.cause;
	if (!forcible) return "it or another run of its manifest is in progress";
	const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}`;
	const take = withFlags(`ragtag runs repair ${run} --force`, flags);
	return `${who} holds its lock, and can't be checked from this machine; if that process has certainly ended, ${take} takes the lock`;
}
