import { createHash } from "node:crypto";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { type Lock, Locked, takeLock } from "../journal/lock.ts";
import type { Processes } from "../storage/process-owner.ts";
import type { RecordedManifest } from "../journal/records.ts";
import { makeFolder } from "../storage/folders.ts";
import { cannotRecord } from "./faults.ts";
import { LOCKS, type Runs } from "./runs.ts";

export type LockOptions = {
	readonly runs: Runs;
	readonly processes: Processes;
	/** takes a lock that another machine holds */
	readonly force: boolean;
};

/** One lock for each manifest and target: two starts of the same work meet at it. */
export async function lockContent(
	{ baseUrl, manifest }: { readonly baseUrl: string; readonly manifest: Pick<RecordedManifest, "sha256"> },
	{ runs, processes, force }: LockOptions,
): Promise<Lock> {
	const name = createHash("sha256").update(`${baseUrl}\0${manifest.sha256}`).digest("hex");
	return takeNamedLock(runs, name, processes, force);
}

/** That of a run that is to send: of its content, and of its manifest's path, whatever the content is by now. */
export async function lockForSending(
	wanted: { readonly baseUrl: string; readonly manifest: Pick<RecordedManifest, "sha256" | "path"> },
	options: LockOptions,
): Promise<Pick<Lock, "release">> {
	const content = await lockContent(wanted, options);
	const { path } = wanted.manifest;
	// What comes through a pipe has no path: two of them at once are two manifests.
	if (path === null) return content;
	const name = createHash("sha256").update(`path\0${wanted.baseUrl}\0${path}`).digest("hex");
	try {
		const place = await takeNamedLock(options.runs, name, options.processes, options.force);
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

export async function takeNamedLock(runs: Runs, name: string, processes: Processes, force: boolean): Promise<Lock> {
	await runs.secure();
	const folder = join(runs.folder, LOCKS);
	try {
		await makeFolder(folder);
		return await takeLock(join(folder, name.slice(0, 32)), { processes, force });
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
