import { createHash } from "node:crypto";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { type Lock, Locked, takeLock } from "../journal/lock.ts";
import type { RecordedManifest } from "../journal/records.ts";
import { makeFolder } from "../storage/folders.ts";
import type { Processes } from "../storage/process-owner.ts";
import { cannotRecord } from "./faults.ts";
import { LOCKS, type RunStore } from "./run-store.ts";

export type LockOptions = {
	readonly runs: RunStore;
	readonly processes: Processes;
	/** takes a lock that a process of another machine holds */
	readonly force: boolean;
};

/** The lock of a manifest's content and a target. Two runs of the same content can't go on at the same time. */
export async function lockContent(
	{ baseUrl, manifest }: { readonly baseUrl: string; readonly manifest: Pick<RecordedManifest, "sha256"> },
	options: LockOptions,
): Promise<Lock> {
	return takeRunLock(hashOf(`${baseUrl}\0${manifest.sha256}`), options);
}

/** The locks of a run that sends rows: of its manifest's content, and of its path, whose content may have changed. */
export async function lockForSending(
	spec: { readonly baseUrl: string; readonly manifest: Pick<RecordedManifest, "sha256" | "path"> },
	options: LockOptions,
): Promise<Pick<Lock, "release">> {
	const content = await lockContent(spec, options);
	const { path } = spec.manifest;
	// A manifest from a pipe has no path. Two of them at the same time are two manifests.
	if (path === null) return content;
	try {
		const place = await takeRunLock(hashOf(`path\0${spec.baseUrl}\0${path}`), options);
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
async function takeRunLock(name: string, { runs, processes, force }: LockOptions): Promise<Lock> {
	await runs.secure();
	const folder = join(runs.folder, LOCKS);
	try {
		await makeFolder(folder);
		return await takeLock(join(folder, name), { processes, force });
	} catch (error) {
		if (!(error instanceof Locked)) throw cannotRecord(runs.folder, error);
		const { owner, forcible } = error;
		const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
		throw new CliError(`this manifest is in use by ${who}; nothing was sent`, {
			exit: Exit.locked,
			hint: forcible ? "If that process has certainly ended, add --force." : "Wait until it has ended.",
			cause: error,
		});
	}
}

function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
