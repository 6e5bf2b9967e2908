import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import type { JsonObject } from "../../json/values.ts";
import { areDisjoint, type Shard, shardIn, shardOf, shardText } from "../../shard.ts";
import { type Lock, Locked, refuseWhileLocked, takeLock } from "../journal/lock.ts";
import type { RecordedManifest } from "../journal/records.ts";
import { makeFolder } from "../storage/folders.ts";
import type { LockOwner, Processes } from "../storage/process-owner.ts";
import { cannotRecord, LOCKS, type RunStore } from "./run-store.ts";

export type LockOptions = {
	readonly runs: RunStore;
	readonly processes: Processes;
	/** takes a lock that a process of another machine holds */
	readonly force: boolean;
};

/** What names the lock of a run: a service may have several addresses, so none counts. A shard has a lock of its own. */
export type LockedWork = {
	readonly manifest: Pick<RecordedManifest, "sha256">;
	readonly options?: JsonObject;
	/** what a message calls it */
	readonly name?: string;
};

/**
 * The lock of a manifest's content and a dataset. Two runs of the same content can't go on at the same time, unless they are
 * two shards that have no row in common.
 */
export async function lockContent({ manifest, options = {}, name }: LockedWork, lock: LockOptions): Promise<Lock> {
	return takeRunLock(hashOf(`${datasetIn({ options })}\0${manifest.sha256}`), shardIn(options), lock, name);
}

/** The locks of a run that sends rows: of its manifest's content, and of its path, whose content may have changed. */
export async function lockForSending(
	spec: LockedWork & { readonly manifest: Pick<RecordedManifest, "path"> },
	lock: LockOptions,
): Promise<Lock> {
	const content = await lockContent(spec, lock);
	const { manifest, options = {} } = spec;
	const { path } = manifest;
	// A manifest from a pipe has no path. Two of them at the same time are two manifests.
	if (path === null) return content;
	try {
		// Links to one file are one manifest.
		const real = await realpath(path).catch(() => path);
		const place = await takeRunLock(hashOf(`path\0${datasetIn(spec)}\0${real}`), shardIn(options), lock);
		return {
			release: async () => {
				await place.release();
				await content.release();
			},
		};
	} catch (error) {
		await content.release();
		throw error;
	}
}

/** @throws CliError 5 where another process holds the lock, 7 where the storage fails */
async function takeRunLock(
	name: string,
	shard: Shard | undefined,
	{ runs, processes, force }: LockOptions,
	called = "this manifest",
): Promise<Lock> {
	runs.secure();
	const folder = join(runs.folder, LOCKS);
	try {
		makeFolder(folder);
		const lock = await takeLock(join(folder, lockName(name, shard)), { processes, force });
		try {
			// Each process takes its own lock first. So of two that overlap and begin at once, one at least sees the other.
			for (const other of overlappingLocks(folder, name, shard)) {
				refuseWhileLocked(join(folder, other), { processes, force });
			}
			return lock;
		} catch (error) {
			await lock.release();
			throw error;
		}
	} catch (error) {
		if (!(error instanceof Locked)) throw cannotRecord(runs.folder, error);
		const { owner, forcible } = error;
		const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
		const what = shard === undefined ? called : `shard ${shardText(shard)} of ${called}`;
		throw new CliError(`${what} is in use by ${who}; nothing was sent`, {
			exit: Exit.locked,
			hint: forcible ? "If that process has certainly ended, add --force." : goesOnHint(owner),
			cause: error,
		});
	}
}

function goesOnHint(owner: LockOwner | undefined): string {
	const status = owner === undefined ? "" : `, and kill -USR1 ${owner.pid} prints in its terminal how far it is`;
	return `Wait until it has ended. ragtag runs adjust --rate N or --pause changes it${status}.`;
}

/** The dataset that `-d` gives; empty where rows name their own. */
export function datasetIn({ options }: Pick<LockedWork, "options">): string {
	const dataset = options?.["dataset"];
	return typeof dataset === "string" ? dataset : "";
}

function lockName(name: string, shard: Shard | undefined): string {
	return shard === undefined ? name : `${name}-${shard.index}-of-${shard.count}`;
}

/** The names of other locks of the same work whose rows may be those of this shard. */
function overlappingLocks(folder: string, name: string, shard: Shard | undefined): string[] {
	const locks = readdirSync(folder).filter((file) => file.startsWith(name) && file.endsWith(".lock"));
	const others = locks.map((file) => file.slice(0, -".lock".length)).filter((lock) => lock !== lockName(name, shard));
	return others.filter((lock) => {
		const [, index, count] = /-(\d+)-of-(\d+)$/.exec(lock) ?? [];
		return !areDisjoint(shard, shardOf(Number(index), Number(count)));
	});
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
