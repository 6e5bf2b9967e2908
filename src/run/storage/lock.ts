import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../../errors.ts";
import {
	type LockOwner,
	type Machine,
	type OwnerState,
	ownerStateOf,
	ownerText,
	type Processes,
	readOwner,
	thisMachine,
	thisProcessAsOwner,
} from "./process-owner.ts";
import { readTextIfThere, removeFile, statusOf } from "./quick-files.ts";

/** Age in milliseconds at which a file counts as left by a process that was killed while it took a lock, which takes milliseconds. */
const ABANDONED_AGE_MS = 10_000;

/** The longest time in milliseconds to wait for other processes that take the lock. */
const TIMEOUT_MS = 2 * ABANDONED_AGE_MS;

/** Between two tries, in milliseconds. */
const POLL_MS = 5;

/** Bytes of a lock's random part, enough that no two locks have the same. */
const NONCE_BYTES = 16;

/** Another process holds the lock. Nothing was changed. Exit 5. */
export class Locked extends Error {
	override readonly name = "Locked";
	/** undefined where the lock does not name its owner */
	readonly owner: LockOwner | undefined;
	/** whether `force` takes the lock: the owner is on another machine, or unknown */
	readonly forcible: boolean;

	constructor(path: string, owner: LockOwner | undefined, forcible: boolean) {
		const who =
			owner === undefined ? "an unknown process" : `pid ${owner.pid} on host ${owner.host} since ${owner.since}`;
		super(`${path} is locked by ${who}`);
		this.owner = owner;
		this.forcible = forcible;
	}
}

/** Disposing of a lock removes it if this process still owns it. It may be disposed of again. */
export type Lock = AsyncDisposable;

type LockOptions = {
	readonly processes: Processes;
	/** takes a lock of another machine too, but never one of a process that runs here */
	readonly force?: boolean;
	/** this machine where absent */
	readonly machine?: Machine;
};

/**
 * Takes the lock file `PATH.lock`, which names its owner. The lock of a process that has ended is taken over. Of several
 * processes that take it at once, exactly one succeeds.
 *
 * Two containers that share a folder and a host name count as one machine.
 *
 * @throws Locked where another process holds it
 */
export async function takeLock(path: string, { processes, force = false, machine }: LockOptions): Promise<Lock> {
	const folder = realpathSync.native(dirname(resolve(path)));
	const file = join(folder, `${basename(path)}.lock`);
	const here = machine ?? thisMachine(processes);
	const self = thisProcessAsOwner(here, processes.pid, randomBytes(NONCE_BYTES).toString("hex"));
	await exclusively(`${file}.taking`, () => {
		const found = readLock(file, here);
		refuseIfHeld(found, file, force);
		if (found.state !== "free") removeFile(file);
		// It is not synced: one that a loss of power empties counts as abandoned.
		writeFileSync(file, ownerText(self), { flag: "wx", mode: 0o600 });
	});
	return {
		[Symbol.asyncDispose]: async () => {
			if (readLock(file, here).owner?.nonce === self.nonce) removeFile(file);
		},
	};
}

/** Refuses where another process holds that lock, and takes nothing. @throws Locked */
export function refuseWhileLocked(path: string, { processes, force = false, machine }: LockOptions): void {
	const here = machine ?? thisMachine(processes);
	refuseIfHeld(readLock(`${path}.lock`, here), path, force);
}

type FoundLock = { readonly owner: LockOwner | undefined; readonly state: OwnerState | "free" | "unwritten" };

function readLock(file: string, here: Machine): FoundLock {
	const text = readTextIfThere(file, constants.O_NOFOLLOW);
	if (text === undefined) return { owner: undefined, state: "free" };
	const owner = readOwner(text);
	if (owner !== undefined) return { owner, state: ownerStateOf(owner, here, here.processOf(owner.pid)) };
	return { owner, state: ageOf(file) > ABANDONED_AGE_MS ? "gone" : "unwritten" };
}

/** @throws Locked where the lock may not be taken over */
function refuseIfHeld({ owner, state }: FoundLock, file: string, force: boolean): void {
	if (state === "running") throw new Locked(file, owner, false);
	if ((state === "elsewhere" || state === "unwritten") && !force) throw new Locked(file, owner, true);
}

/** Does some work while no other process does it: only one can create the file. */
async function exclusively(mutex: string, work: () => void): Promise<void> {
	const end = performance.now() + TIMEOUT_MS;
	while (!isCreated(mutex)) {
		if (ageOf(mutex) > ABANDONED_AGE_MS) removeFile(mutex);
		else if (performance.now() < end) await sleep(POLL_MS);
		else throw new Error(`another process has been taking the lock for ${TIMEOUT_MS} ms`);
	}
	try {
		work();
	} finally {
		removeFile(mutex);
	}
}

/** Creates a file. @returns whether it was not there before */
function isCreated(path: string): boolean {
	try {
		closeSync(openSync(path, "wx", 0o600));
		return true;
	} catch (error) {
		if (errorCode(error) !== "EEXIST") throw error;
		return false;
	}
}

/**
 * Milliseconds between now and the time when a file was written; 0 where it does not exist. Where the clock was set back
 * since, that time lies ahead: such a file would never get old.
 */
function ageOf(path: string): number {
	const written = statusOf(path)?.mtimeMs;
	return written === undefined ? 0 : Math.abs(Date.now() - written);
}
