import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import type { JsonObject } from "../../json/values.ts";
import { areDisjoint, type Shard, shardIn, shardOf, shardText } from "../../shard.ts";
import { type Lock, Locked, refuseWhileLocked, takeLock } from "../storage/lock.ts";
import type { RecordedManifest } from "../journal/records.ts";
import { makeFolder } from "../storage/folders.ts";
import { cannotRecord, LOCKS, type RunStore } from "./run-store.ts";

export type LockOptions = {
	readonly runs: RunStore;
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
export async function lockContent(spec: LockedWork, options: LockOptions): Promise<Lock> {
	return takeLocks([contentHashOf(spec)], spec, options);
}

/** Work of which two can't go on at the same time, by its content and by its path. */
type SendingWork = LockedWork & { readonly manifest: Pick<RecordedManifest, "path"> };

/** The locks of a run that sends rows: of its manifest's content, and of its path, whose content may have changed. */
export async function lockForSending(spec: SendingWork, options: LockOptions): Promise<Lock> {
	return takeLocks(await hashesOf(spec), spec, options);
}

/** Refuses where another run of these rows is going on, and takes nothing. @throws CliError 5; 7 where the storage fails */
export async function refuseWhileSending(spec: SendingWork, { runs, force }: LockOptions): Promise<void> {
	const how = { processes: runs.processes, force };
	runs.secure();
	const folder = join(runs.folder, LOCKS);
	// Without the folder no run has begun, and a command that sends nothing leaves no file.
	if (!existsSync(folder)) return;
	try {
		for (const hash of await hashesOf(spec)) {
			for (const name of overlappingLocks(folder, hash, shardIn(spec.options ?? {})))
				refuseWhileLocked(join(folder, name), how);
		}
	} catch (error) {
		throw refusal(error, runs.folder, spec);
	}
}

function contentHashOf(spec: LockedWork): string {
	return hashOf(`${datasetIn(spec)}\0${spec.manifest.sha256}`);
}

/** Links to one file are one manifest. One from a pipe has no path: two of them at the same time are two manifests. */
async function hashesOf(spec: SendingWork): Promise<readonly string[]> {
	const { path } = spec.manifest;
	if (path === null) return [contentHashOf(spec)];
	const real = await realpath(path).catch(() => path);
	return [contentHashOf(spec), hashOf(`path\0${datasetIn(spec)}\0${real}`)];
}

/** Takes all of these locks, or none. @throws CliError 5 where another process holds one, 7 where the storage fails */
async function takeLocks(hashes: readonly string[], spec: LockedWork, { runs, force }: LockOptions): Promise<Lock> {
	const how = { processes: runs.processes, force };
	runs.secure();
	const folder = join(runs.folder, LOCKS);
	const shard = shardIn(spec.options ?? {});
	const taken: Lock[] = [];
	const release = async (): Promise<void> => {
		for (const lock of taken.toReversed()) await lock[Symbol.asyncDispose]();
	};
	try {
		makeFolder(folder);
		for (const hash of hashes) {
			const own = lockName(hash, shard);
			taken.push(await takeLock(join(folder, own), how));
			// Each process takes its own lock first. So of two that overlap and begin at once, one at least sees the other.
			const others = overlappingLocks(folder, hash, shard).filter((name) => name !== own);
			for (const other of others) refuseWhileLocked(join(folder, other), how);
		}
		return { [Symbol.asyncDispose]: release };
	} catch (error) {
		await release();
		throw refusal(error, runs.folder, spec);
	}
}

function refusal(error: unknown, folder: string, spec: LockedWork): CliError {
	if (!(error instanceof Locked)) return cannotRecord(folder, error);
	const { owner, forcible } = error;
	const who = `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
	const { name = "this manifest" } = spec;
	const shard = shardIn(spec.options ?? {});
	const what = shard === undefined ? name : `shard ${shardText(shard)} of ${name}`;
	const status = `kill -USR1 ${owner.pid} prints in its terminal how far it is`;
	return new CliError(`${what} is in use by ${who}; nothing was sent`, {
		exit: Exit.locked,
		hint: forcible
			? "If that process has certainly ended, add --force."
			: `Wait until it has ended. ragtag runs adjust --rate N or --pause changes it, and ${status}.`,
		cause: error,
	});
}

/** The dataset that `-d` gives; empty where rows name their own. */
export function datasetIn({ options }: Pick<LockedWork, "options">): string {
	const dataset = options?.["dataset"];
	return typeof dataset === "string" ? dataset : "";
}

function lockName(name: string, shard: Shard | undefined): string {
	return shard === undefined ? name : `${name}-${shard.index}-of-${shard.count}`;
}

/** The names of locks of the same work, this shard's too, whose rows may be those of this shard. */
function overlappingLocks(folder: string, name: string, shard: Shard | undefined): string[] {
	const locks = readdirSync(folder).filter((file) => file.startsWith(name) && file.endsWith(".lock"));
	return locks
		.map((file) => file.slice(0, -".lock".length))
		.filter((lock) => {
			const [, index, count] = /-(\d+)-of-(\d+)$/.exec(lock) ?? [];
			return !areDisjoint(shard, shardOf(Number(index), Number(count)));
		});
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
