import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { constants, linkSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
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
} from "../storage/process-owner.ts";
import { readTextIfThere, removeFile } from "../storage/quick-files.ts";

/** Age in milliseconds at which a lock without an owner counts as left by a process that was killed while it took it. */
const ABANDONED_AGE_MS = 10_000;

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
 * processes of one machine that take it at once, exactly one succeeds.
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
	const mutex: Mutex = here.hasAbstractSockets ? socketMutex(file) : linkMutex(file, self.nonce);

	// Most processes that come second are refused here, without a wait. An unwritten lock may be complete in a moment.
	const before = readLock(file, here);
	if (before.state !== "unwritten") refuseIfHeld(before, file, force);
	await withMutex(mutex, async () => {
		const found = readLock(file, here);
		refuseIfHeld(found, file, force);
		if (found.state !== "free") removeFile(file);
		createLock(file, self);
	});
	const release = (): Promise<void> =>
		withMutex(mutex, async () => {
			const { owner } = readLock(file, here);
			if (owner?.nonce === self.nonce) removeFile(file);
		});
	return { [Symbol.asyncDispose]: release };
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
	const age = ageOf(file);
	if (age === undefined) return { owner, state: "free" };
	return { owner, state: age > ABANDONED_AGE_MS ? "gone" : "unwritten" };
}

/** @throws Locked where the lock may not be taken over */
function refuseIfHeld({ owner, state }: FoundLock, file: string, force: boolean): void {
	if (state === "running") throw new Locked(file, owner, false);
	if ((state === "elsewhere" || state === "unwritten") && !force) throw new Locked(file, owner, true);
}

/** Error codes of file systems without hard links. */
const NO_LINKS: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/**
 * Creates the lock with its owner in one step, so that a process killed here leaves no lock without an owner. It is not synced:
 * one that a loss of power empties counts as abandoned.
 */
function createLock(file: string, owner: LockOwner): void {
	const draft = `${file}.${owner.nonce}`;
	const write = (path: string): void => writeFileSync(path, ownerText(owner), { flag: "wx", mode: 0o600 });
	try {
		write(draft);
		linkSync(draft, file);
	} catch (error) {
		if (!NO_LINKS.includes(errorCode(error))) throw lockedIfExists(error, file);
		try {
			write(file);
		} catch (failure) {
			throw lockedIfExists(failure, file);
		}
	} finally {
		removeFile(draft);
	}
}

/** `Locked` where the file exists: a process of another container, which the mutex does not exclude, made it first. */
function lockedIfExists(error: unknown, file: string): unknown {
	return errorCode(error) === "EEXIST" ? new Locked(file, undefined, true) : error;
}

/** Tries to enter. Resolves with the function that leaves again, or with undefined while another process is in. */
type Mutex = () => Promise<(() => Promise<void>) | undefined>;

/**
 * The longest time that another process may stay in, in milliseconds. Its work takes milliseconds, but a machine can be
 * slow.
 */
const TIMEOUT_MS = 10_000;

/** Between two tries, in milliseconds: about as long as the work takes. */
const POLL_MS = 5;

/** Age in milliseconds at which the file of a mutex counts as left by a process that was killed: six times the timeout. */
const ABANDONED_MUTEX_MS = 60_000;

/** Does some work while no other process of this machine does it. */
async function withMutex(mutex: Mutex, work: () => Promise<void>): Promise<void> {
	const end = performance.now() + TIMEOUT_MS;
	for (;;) {
		const leave = await mutex();
		if (leave !== undefined) {
			try {
				return await work();
			} finally {
				await leave();
			}
		}
		if (performance.now() > end) throw new Error(`another process has been taking the lock for ${TIMEOUT_MS} ms`);
		await sleep(POLL_MS);
	}
}

/**
 * A mutex by the name of an abstract Unix socket (unix(7)). The system gives the name to one process, and takes it back
 * when the process ends for any reason. Such names belong to a network namespace, so processes of two containers that
 * share a volume don't exclude each other. So the mutex may protect the taking of a lock, but is no lock itself.
 */
function socketMutex(path: string): Mutex {
	const name = `\0ragtag-${createHash("sha256").update(path).digest("hex")}`;
	return async () => {
		const server = createServer((socket) => socket.destroy());
		try {
			await once(server.listen({ path: name }), "listening");
		} catch (error) {
			if (errorCode(error) === "EADDRINUSE") return undefined;
			throw error;
		}
		return async () => {
			await once(server.close(), "close");
		};
	};
}

/**
 * A mutex by a second link of a file, which the file system creates once. When its process is killed, the link stays. It
 * counts as abandoned after a minute.
 *
 * @param nonce a text that no other process has
 */
function linkMutex(path: string, nonce: string): Mutex {
	const own = `${path}.${nonce}`;
	const shared = `${path}.taking`;
	return async () => {
		writeFileSync(own, "", { mode: 0o600, flag: "wx" });
		try {
			linkSync(own, shared);
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
			const age = ageOf(shared);
			if (age !== undefined && age > ABANDONED_MUTEX_MS) removeFile(shared);
			return undefined;
		} finally {
			removeFile(own);
		}
		return async () => removeFile(shared);
	};
}

/**
 * Milliseconds between now and the time when a file was written; undefined where it does not exist. Where the clock was set back
 * since, that time lies ahead: such a file would never get old.
 */
function ageOf(path: string): number | undefined {
	try {
		return Math.abs(Date.now() - statSync(path).mtimeMs);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}
