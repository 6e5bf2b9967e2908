import { createHash, randomBytes } from "node:crypto";
import { createWriteStream, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CliError, errorCode, Exit, reason, usageError } from "../../errors.ts";
import { makeFolder, storageReason } from "./folders.ts";
import { type CurrentUser, secureStateFolder, secureTemporaryFolder } from "./private-folders.ts";
import { isSameProcess, type Machine, type Processes, thisMachine } from "./process-owner.ts";

const MAKE_ROOM_HINT = "Free some space there, or name another folder with --state-dir.";

/** The temporary folders of this process, one below each state folder. They are removed when the process ends. */
export class TemporaryFolders {
	readonly #processes: Processes;
	readonly #user: CurrentUser;
	readonly #made = new Map<string, Promise<string>>();

	constructor(processes: Processes, user: CurrentUser) {
		this.#processes = processes;
		this.#user = user;
	}

	/**
	 * The folder below a state folder, made on first use. What commands put into it need not be removed one by one.
	 *
	 * @param origin the flag or variable that gave the state folder, or `default`
	 * @throws CliError exit 2 or 7 where a state folder that the user gave can't be used, or is not the user's own
	 */
	of(stateDir: string, origin: string): Promise<string> {
		const made = this.#made.get(stateDir) ?? this.#make(stateDir, origin);
		this.#made.set(stateDir, made);
		return made;
	}

	async #make(stateDir: string, origin: string): Promise<string> {
		const shared = join(stateDir, "tmp");
		// A job whose home can't be written still works: where no state folder was given, the system's folder is used.
		const isDefault = origin === "default";
		try {
			makeFolder(shared);
		} catch (error) {
			if (isDefault) return mkdtempSync(join(tmpdir(), "ragtag-"));
			throw usageError(`${origin} ${stateDir}: ${storageReason(error, stateDir)}`, undefined, error);
		}
		secureStateFolder(stateDir, this.#user);
		secureTemporaryFolder(shared, this.#user);
		try {
			return await makeProcessFolder(shared, this.#processes, this.#user.uid);
		} catch (error) {
			if (isDefault) return mkdtempSync(join(tmpdir(), "ragtag-"));
			throw error;
		}
	}

	/** Removes the folders with everything in them. */
	async close(): Promise<void> {
		for (const made of this.#made.values()) {
			const folder = await made.catch(() => undefined);
			if (folder !== undefined) await removeFolder(folder);
		}
		this.#made.clear();
	}
}

/** Most of these folders are empty in the end. */
async function removeFolder(path: string): Promise<void> {
	try {
		rmdirSync(path);
	} catch {
		await rm(path, { recursive: true, force: true });
	}
}

/** The names that this program and its release 0.1.0 give to such folders. */
const OUR_NAME = /^(?:of|ragtag)-/;

/** The name of a process's folder: process id, start of the process, hash of the machine, random part. */
const FOLDER_NAME = /^of-(\d+)-(\d+|x)-([0-9a-f]{12})-[0-9a-f]{8}$/;

/**
 * Age in milliseconds at which a folder is removed whose process can't be checked: of another machine, or before a
 * restart. A week, as a run of another machine may take days.
 */
const UNCHECKED_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Makes a folder for this process below one that all processes share. The name says which process owns it. So the next
 * process removes the folder of one that was killed, which may contain a copy of a manifest. What is not the user's own, or has
 * another name, stays.
 *
 * @param uid of the user; -1 on a system where files have no owners
 * @throws CliError exit 7 where it can't be made
 */
async function makeProcessFolder(shared: string, processes: Processes, uid: number): Promise<string> {
	const machine = thisMachine(processes);
	const start = machine.processOf(processes.pid)?.start ?? "x";
	const random = randomBytes(4).toString("hex");
	const own = join(shared, `of-${processes.pid}-${start}-${machineHash(machine)}-${random}`);
	try {
		for (const name of readdirSync(shared)) {
			if (OUR_NAME.test(name) && isAbandoned(join(shared, name), name, { machine, uid })) {
				await rm(join(shared, name), { recursive: true, force: true });
			}
		}
		mkdirSync(own, { mode: 0o700 });
		return own;
	} catch (error) {
		throw new CliError(`copies can't be kept in the temporary folder ${shared}: ${reason(error)}; nothing was sent`, {
			exit: Exit.storage,
			hint: MAKE_ROOM_HINT,
			cause: error,
		});
	}
}

type Here = { readonly machine: Machine; readonly uid: number };

function isAbandoned(path: string, name: string, { machine, uid }: Here): boolean {
	const status = lstatSync(path, { throwIfNoEntry: false });
	if (status === undefined || (uid !== -1 && status.uid !== uid)) return false;
	const [, pid, start, hash] = FOLDER_NAME.exec(name) ?? [];
	if (hash !== machineHash(machine)) return Date.now() - status.mtimeMs > UNCHECKED_AGE_MS;
	const running = machine.processOf(Number(pid));
	return running === undefined || !isSameProcess(start === "x" ? null : (start ?? null), running);
}

function machineHash({ host, boot }: Machine): string {
	return createHash("sha256").update(`${host}\0${boot}`).digest("hex").slice(0, 12);
}

/**
 * Does some work that stores data in a temporary folder.
 *
 * @param what the data, as the subject of a sentence: `the plan`
 * @param result what the failure means, as the end of that sentence: `nothing was sent`
 * @throws CliError exit 7 where the storage fails; every other error of the work as it is
 */
export async function withTemporaryStorage<Result>(
	what: string,
	work: () => Promise<Result>,
	result?: string,
): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		// Errors of the storage have a code; the others have a message for the user already.
		if (error instanceof CliError || errorCode(error) === undefined) throw error;
		const end = result === undefined ? "" : `; ${result}`;
		throw new CliError(`${what} can't be kept in the temporary folder: ${reason(error)}${end}`, {
			exit: Exit.storage,
			hint: MAKE_ROOM_HINT,
			cause: error,
		});
	}
}

/**
 * Writes a private file into a temporary folder, which removes it in the end.
 *
 * @param what the data, as above
 * @returns its path
 */
export async function temporaryFile(
	folder: string,
	what: string,
	texts: Iterable<string> | AsyncIterable<string>,
): Promise<string> {
	const path = join(folder, `ragtag-${randomBytes(8).toString("hex")}`);
	const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
	await withTemporaryStorage(what, () => pipeline(texts, file), "nothing was sent");
	return path;
}
