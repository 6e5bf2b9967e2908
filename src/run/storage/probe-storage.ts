import { randomBytes } from "node:crypto";
import { open, rm, rmdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { makeFolder } from "./folders.ts";
import { storageReason } from "./storage-faults.ts";

/** Bytes that are written: a disk that is nearly full takes an empty file, and no record. */
const SAMPLE = 64 * 1024;

/**
 * Writes a file into a folder and removes it, with what had to be made for it.
 *
 * @returns bytes that this user may still write there; undefined where the file system does not tell
 * @throws CliError exit 7 where it can't be written
 */
export async function probeStorage(folder: string): Promise<number | undefined> {
	const path = join(folder, `.probe-${randomBytes(6).toString("hex")}`);
	let made: readonly string[] = [];
	try {
		made = await makeFolder(folder);
		const file = await open(path, "wx", 0o600);
		try {
			await file.writeFile(Buffer.alloc(SAMPLE));
			await file.sync();
		} finally {
			await file.close();
		}
		const free = await statfs(folder).catch(() => undefined);
		return free === undefined || free.blocks === 0 ? undefined : free.bavail * free.bsize;
	} catch (error) {
		throw new CliError(`runs can't be recorded in ${folder}: ${storageReason(error, folder)}`, {
			exit: Exit.storage,
			hint: "Make it writable or make room there, or name another folder with --state-dir DIR.",
			cause: error,
		});
	} finally {
		await rm(path, { force: true }).catch(() => undefined);
		// A folder that something else was put into meanwhile stays.
		for (const each of made.toReversed()) await rmdir(each).catch(() => undefined);
	}
}
