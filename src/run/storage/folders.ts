import { randomBytes } from "node:crypto";
import { mkdirSync, statSync } from "node:fs";
import { open, rm, rmdir, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CliError, errorCode, Exit, quietly, reason } from "../../errors.ts";

/** Only the user may read which documents were written. */
const FOLDER_MODE = 0o700;

/**
 * Makes a folder and its missing parents. Node's own recursive `mkdir` reports "no such file or directory" for a file
 * system that is read-only or refuses, which misleads the user. Where the system makes no folder, as in /proc, it never ends
 * (seen with Node 20.20).
 *
 * @returns the folders that were made, the outermost first
 */
export function makeFolder(path: string, mode = FOLDER_MODE): readonly string[] {
	const folder = resolve(path);
	if (quietly(() => statSync(folder))?.isDirectory() === true) return [];
	const parent = dirname(folder);
	const made = parent === folder ? [] : [...makeFolder(parent, mode)];
	try {
		mkdirSync(folder, { mode });
		made.push(folder);
	} catch (error) {
		if (errorCode(error) !== "EEXIST") throw error;
		// Another process may have made it meanwhile. Where a file is in its place, this fails with "not a directory".
		statSync(`${folder}/.`);
	}
	return made;
}

/**
 * The reason of a storage error. It names the folder that refused where that is not `folder`: to make a folder can fail
 * with "permission denied" because of its parent.
 *
 * @param folder the folder that the message names already
 */
export function storageReason(error: unknown, folder: string): string {
	const why = reason(error);
	const path = error instanceof Error && "path" in error ? error.path : undefined;
	if (typeof path !== "string" || path.startsWith(`${folder}/`)) return why;
	return `${why}, in ${dirname(path)}`;
}

/** Bytes of the probe. A disk that is nearly full takes an empty file, but no record. */
const PROBE_BYTES = 64 * 1024;

/**
 * Writes a file into a folder, then removes it with the folders that were made for it.
 *
 * @returns free bytes for this user; undefined where the file system does not report them
 * @throws CliError exit 7 where the file can't be written
 */
export async function probeStorage(folder: string): Promise<number | undefined> {
	const path = join(folder, `.probe-${randomBytes(6).toString("hex")}`);
	let made: readonly string[] = [];
	try {
		made = makeFolder(folder);
		const file = await open(path, "wx", 0o600);
		try {
			await file.writeFile(Buffer.alloc(PROBE_BYTES));
			await file.sync();
		} finally {
			await file.close();
		}
		const free = await statfs(folder).catch(() => undefined);
		return free === undefined || free.blocks === 0 ? undefined : free.bavail * free.bsize;
	} catch (error) {
		throw new CliError(`runs can't be recorded in ${folder}: ${storageReason(error, folder)}`, {
			exit: Exit.storage,
			hint: "Make it writable or free some space there, or name another folder with --state-dir DIR.",
			cause: error,
		});
	} finally {
		await rm(path, { force: true }).catch(() => undefined);
		// A folder stays where another process has put a file into it meanwhile.
		for (const each of made.toReversed()) await rmdir(each).catch(() => undefined);
	}
}
