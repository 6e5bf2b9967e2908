import { randomBytes } from "node:crypto";
import { createWriteStream, lstatSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CliError, errorCode, Exit, reason, usageError } from "../../errors.ts";
import { makeFolder, storageReason } from "./folders.ts";
import { type Lock, Locked, refuseWhileLocked, takeLock } from "./lock.ts";
import { type CurrentUser, secureStateFolder, secureTemporaryFolder } from "./private-folders.ts";
import type { Processes } from "./process-owner.ts";
import { ifThere } from "./quick-files.ts";

const MAKE_ROOM_HINT = "Free some space there, or name another folder with --state-dir.";

/** A folder of a process. One in the system's own folder has no lock. */
type ProcessFolder = { readonly path: string; readonly lock: Lock | undefined };

/** The temporary folder of this process, below its state folder. It is removed when the process ends. */
export function temporaryFolderOf(processes: Processes, user: CurrentUser) {
	let made: Promise<ProcessFolder> | undefined;
	const make = async (stateDir: string, origin: string): Promise<ProcessFolder> => {
		const shared = join(stateDir, "tmp");
		const instead = (error: unknown): ProcessFolder => {
			// A job whose home can't be written still works: where no state folder was given, the system's folder is used.
			if (origin === "default") return { path: mkdtempSync(join(tmpdir(), "ragtag-")), lock: undefined };
			throw error;
		};
		try {
			makeFolder(shared);
		} catch (error) {
			return instead(usageError(`${origin} ${stateDir}: ${storageReason(error, stateDir)}`, undefined, error));
		}
		secureStateFolder(stateDir, user);
		secureTemporaryFolder(shared, user);
		return await makeProcessFolder(shared, processes, user.uid).catch(instead);
	};
	return {
		/**
		 * The folder, made on first use. What commands put into it need not be removed one by one.
		 *
		 * @param origin the flag or variable that gave the state folder, or `default`
		 * @throws CliError exit 2 or 7 where a state folder that the user gave can't be used, or is not the user's own
		 */
		in: async (stateDir: string, origin: string): Promise<string> => (await (made ??= make(stateDir, origin))).path,
		/** Removes it with everything in it. */
		async close(): Promise<void> {
			const folder = await made?.catch(() => undefined);
			if (folder === undefined) return;
			await rm(folder.path, { recursive: true, force: true });
			await folder.lock?.[Symbol.asyncDispose]();
		},
	};
}

/**
 * Age in milliseconds at which a folder is removed whose process can't be checked: of another machine, or before a
 * restart. A week, as a run of another machine may take days.
 */
const UNCHECKED_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Makes a folder for this process below one that all processes share, beside a lock that says which process owns it. The
 * next process removes the folder of one that was killed, which may contain a copy of a manifest.
 *
 * @throws CliError exit 7 where it can't be made
 */
async function makeProcessFolder(shared: string, processes: Processes, uid: number): Promise<ProcessFolder> {
	try {
		for (const name of readdirSync(shared).filter((each) => each.endsWith(".lock"))) {
			await removeAbandoned(join(shared, name.slice(0, -".lock".length)), processes, uid);
		}
		const path = join(shared, randomBytes(8).toString("hex"));
		const lock = await takeLock(path, { processes });
		mkdirSync(path, { mode: 0o700 });
		return { path, lock };
	} catch (error) {
		throw new CliError(`copies can't be kept in the temporary folder ${shared}: ${reason(error)}; nothing was sent`, {
			exit: Exit.storage,
			hint: MAKE_ROOM_HINT,
			cause: error,
		});
	}
}

async function removeAbandoned(path: string, processes: Processes, uid: number): Promise<void> {
	const lock = ifThere(() => lstatSync(`${path}.lock`));
	// Another user's folder is left alone.
	if (lock === undefined || (uid !== -1 && lock.uid !== uid)) return;
	try {
		refuseWhileLocked(path, { processes, force: Date.now() - lock.mtimeMs > UNCHECKED_AGE_MS });
	} catch (error) {
		if (error instanceof Locked) return;
		throw error;
	}
	await rm(path, { recursive: true, force: true });
	await rm(`${path}.lock`, { recursive: true, force: true });
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
