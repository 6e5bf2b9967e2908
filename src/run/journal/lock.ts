import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, open, readFile, realpath, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode } from "../../errors.ts";
import {
	type Machine,
	thisProcessAsOwner,
	type Processes,
	thisMachine,
	ownerStateOf,
	type LockOwner,
	ownerText,
	readOwner,
	type OwnerState,
} from "../storage/process-owner.ts";
import { ageOf, withMutex, linkMutex, type Mutex, socketMutex } from "./mutex.ts";

/** A lock without an owner in it is that of a process that was killed while it took it, in milliseconds of age. */
const UNWRITTEN = 10_000;

/** Bytes of a lock's random part. */
const NONCE_BYTES = 16;

/** Another process holds the lock; nothing was changed. Exit 5. */
export class Locked extends Error {
	override readonly name = "Locked";
	/** undefined where the lock does not say it */
	readonly owner: LockOwner | undefined;
	/** whether `force` would take it: its owner is on another machine, or unknown */
	readonly forcible: boolean;

	constructor(path: string, owner: LockOwner | undefined, forcible: boolean) {
		const who =
			owner === undefined ? "an unknown process" : `pid ${owner.pid} on host ${owner.host} since ${owner.since}`;
		super(`${path} is locked by ${who}`);
		this.owner = owner;
		this.forcible = forcible;
	}
}

export type Lock = {
	/** the owner that was gone, or that `force` passed over */
	readonly tookOver: LockOwner | undefined;
	/** Removes the lock, if it is still this process's. May be called again. */
	release(): Promise<void>;
};

export type LockOptions = {
	readonly processes: Processes;
	/** takes the lock of another machine too, never that of a process that runs here */
	readonly force?: boolean;
	/** what the system says of itself when absent */
	readonly machine?: Machine;
};

/**
 * Takes the lock `PATH.lock`, which tells of its owner. The lock of a process that does not run any more is taken over;
 * the taking is exclusive on one machine, so that of any number at once exactly one gets it.
 *
 * Processes of two containers that share a folder and the name of their host are taken for one machine's.
 *
 * @throws Locked where another has it
 */
export async function takeLock(path: string, { processes, force = false, machine }: LockOptions): Promise<Lock> {
	const folder = await realpath(dirname(resolve(path)));
	const file = join(folder, `${basename(path)}.lock`);
	const here = machine ?? (await thisMachine(processes));
	const self = await thisProcessAsOwner(here, processes.pid, randomBytes(NONCE_BYTES).toString("hex"));
	const mutex: Mutex = here.hasAbstractSockets ? socketMutex(file) : linkMutex(file, self.nonce);

	// Most who come second learn it here, without waiting for anybody. A lock that is not written yet may be just now.
	const seen = await readLock(file, here);
	if (seen.verdict !== "unwritten") refuse(seen, file, force);
	const tookOver = await withMutex(mutex, async () => {
		const held = await readLock(file, here);
		refuse(held, file, force);
		if (held.verdict !== "free") await rm(file, { force: true });
		await create(file, self);
		return held.owner;
	});
	const release = async (): Promise<void> => {
		await withMutex(mutex, async () => {
			const { owner } = await readLock(file, here);
			if (owner?.nonce === self.nonce) await rm(file, { force: true });
		});
	};
	return { tookOver, release };
}

type LockState = { readonly owner: LockOwner | undefined; readonly verdict: OwnerState | "free" | "unwritten" };

async function readLock(file: string, here: Machine): Promise<LockState> {
	let text: string;
	try {
		text = await readFile(file, { encoding: "utf8", flag: constants.O_RDONLY | constants.O_NOFOLLOW });
	} catch (error) {
		if (errorCode(error) === "ENOENT") return { owner: undefined, verdict: "free" };
		throw error;
	}
	const owner = readOwner(text);
	if (owner !== undefined) return { owner, verdict: ownerStateOf(owner, here, await here.processOf(owner.pid)) };
	const age = await ageOf(file);
	if (age === undefined) return { owner, verdict: "free" };
	return { owner, verdict: age > UNWRITTEN ? "gone" : "unwritten" };
}

/** @throws Locked where what holds the lock may not be passed over */
function refuse({ owner, verdict }: LockState, file: string, force: boolean): void {
	if (verdict === "running") throw new Locked(file, owner, false);
	if ((verdict === "elsewhere" || verdict === "unwritten") && !force) throw new Locked(file, owner, true);
}

/** Codes of a file system that has no second names for a file. */
const NO_LINKS: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Makes the lock with its owner in it at once: a process that is killed here must not leave one that nobody owns. */
async function create(file: string, owner: LockOwner): Promise<void> {
	const draft = `${file}.${owner.nonce}`;
	await write(draft, owner);
	try {
		await link(draft, file);
	} catch (error) {
		if (!NO_LINKS.includes(errorCode(error))) throw taken(error, file);
		await write(file, owner);
	} finally {
		await rm(draft, { force: true });
	}
}

async function write(file: string, owner: LockOwner): Promise<void> {
	const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
	const handle = await open(file, flags, 0o600).catch((error: unknown) => {
		throw taken(error, file);
	});
	try {
		await handle.writeFile(ownerText(owner));
		await handle.sync();
	} catch (error) {
		await rm(file, { force: true });
		throw error;
	} finally {
		await handle.close();
	}
}

/** Somebody whom the mutex does not hold back was faster. */
function taken(error: unknown, file: string): unknown {
	return errorCode(error) === "EEXIST" ? new Locked(file, undefined, true) : error;
}
