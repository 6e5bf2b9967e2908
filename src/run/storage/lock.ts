import { randomBytes } from "node:crypto";
import { constants, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode, quietly } from "../../errors.ts";
import {
	type LockOwner,
	ownerStateOf,
	ownerText,
	type Processes,
	readOwner,
	thisProcessAsOwner,
} from "./process-owner.ts";
import { ifThere, readTextIfThere, removeFile } from "./quick-files.ts";

/** Bytes of a lock's random part, enough that no two locks have the same. */
const NONCE_BYTES = 16;

/** Error codes of a rename onto a folder that has a file. */
const NOT_EMPTY: readonly (string | undefined)[] = ["ENOTEMPTY", "EEXIST"];

/** Renames until the storage counts as faulty. Each one but the first follows a lock that was given up meanwhile. */
const MOST_TRIES = 100;

/** Another process holds the lock. Nothing was changed. Exit 5. */
export class Locked extends Error {
	override readonly name = "Locked";
	readonly owner: LockOwner;
	/** whether `force` takes the lock: the owner is on another machine */
	readonly forcible: boolean;

	constructor(path: string, owner: LockOwner, forcible: boolean) {
		super(`${path} is locked by pid ${owner.pid} on host ${owner.host} since ${owner.since}`);
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
};

/**
 * Takes the lock `PATH.lock`, a folder with one file: the file names the owner, and its name is that of no other lock. It is
 * renamed into place with its file in it, which fails while another file is there: of several processes at once, exactly
 * one succeeds. The lock of a process that has ended is taken over: its file is removed, by its own name, and an empty
 * folder is no lock. So a kill at any moment keeps no other process out.
 *
 * Two containers that share a folder and a host name count as one machine.
 *
 * @throws Locked where another process holds it
 */
export async function takeLock(path: string, { processes, force = false }: LockOptions): Promise<Lock> {
	const folder = realpathSync.native(dirname(resolve(path)));
	const lock = join(folder, `${basename(path)}.lock`);
	const nonce = randomBytes(NONCE_BYTES).toString("hex");
	const draft = `${lock}.${nonce}`;
	mkdirSync(draft, { mode: 0o700 });
	try {
		// It is not synced: one that a loss of power empties counts as abandoned.
		const owner = ownerText(thisProcessAsOwner(processes));
		writeFileSync(join(draft, nonce), owner, { flag: "wx", mode: 0o600 });
		for (let tries = 1; !isRenamed(draft, lock, tries === MOST_TRIES); tries++) {
			const abandoned = abandonedFile(lock, processes, force);
			if (abandoned !== undefined) free(lock, abandoned);
		}
	} catch (error) {
		rmSync(draft, { recursive: true, force: true });
		throw error;
	}
	return { [Symbol.asyncDispose]: async () => free(lock, nonce) };
}

/** Refuses where another process holds that lock, and takes nothing. @throws Locked */
export function refuseWhileLocked(path: string, { processes, force = false }: LockOptions): void {
	abandonedFile(`${path}.lock`, processes, force);
}

/** The file of a lock that may be taken over; undefined where there is no lock. @throws Locked for any other lock */
function abandonedFile(lock: string, here: Processes, force: boolean): string | undefined {
	const [file] = ifThere(() => readdirSync(lock)) ?? [];
	const text = file === undefined ? undefined : readTextIfThere(join(lock, file), constants.O_NOFOLLOW);
	if (text === undefined) return undefined;
	const owner = readOwner(text);
	if (owner === undefined) return file;
	const state = ownerStateOf(owner, here);
	if (state === "gone" || (state === "elsewhere" && force)) return file;
	throw new Locked(lock, owner, state === "elsewhere");
}

/** Removes a lock's file, and the folder unless another process has renamed its own into its place. */
function free(lock: string, file: string): void {
	removeFile(join(lock, file));
	// An empty one that stays is no lock.
	quietly(() => rmdirSync(lock));
}

/** Renames a folder onto one that is absent or empty. @returns false where it is neither, if that is not the last try */
function isRenamed(from: string, to: string, isLast: boolean): boolean {
	try {
		renameSync(from, to);
		return true;
	} catch (error) {
		if (isLast || !NOT_EMPTY.includes(errorCode(error))) throw error;
		return false;
	}
}
