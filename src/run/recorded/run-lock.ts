import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { type Lock, Locked, takeLock } from "../journal/lock.ts";
import type { Processes } from "../journal/machine.ts";
import type { RecordedManifest } from "../journal/records.ts";
import { notKept } from "./faults.ts";
import type { Runs } from "./runs.ts";

export type LockOptions = {
	readonly runs: Runs;
	readonly processes: Processes;
	/** takes a lock that another machine holds */
	readonly force: boolean;
};

/** One lock for each manifest and target: two starts of the same work meet at it. */
export async function lockOfRun(
	{ baseUrl, manifest }: { readonly baseUrl: string; readonly manifest: Pick<RecordedManifest, "sha256"> },
	{ runs, processes, force }: LockOptions,
): Promise<Lock> {
	const name = createHash("sha256").update(`${baseUrl}\0${manifest.sha256}`).digest("hex");
	return takeNamedLock(runs, name, processes, force);
}

export async function takeNamedLock(runs: Runs, name: string, processes: Processes, force: boolean): Promise<Lock> {
	const folder = join(runs.folder, ".locks");
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 });
		return await takeLock(join(folder, name.slice(0, 32)), { processes, force });
	} catch (error) {
		if (!(error instanceof Locked)) throw notKept(folder, error);
		const { owner, forcible } = error;
		const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}, since ${owner.since}`;
		throw new CliError(`this manifest is being sent by ${who}; nothing was sent`, {
			exit: Exit.locked,
			hint: forcible ? "If that one is certainly gone, say --force." : "Wait until it has ended.",
			cause: error,
		});
	}
}
