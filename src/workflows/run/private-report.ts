import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { resolve } from "node:path";
import { errorCode } from "../../errors.ts";
import { currentUserId } from "../../run/storage/private-folders.ts";

/** Only the user may read failed rows: they have all columns of the manifest. */
const MODE = 0o600;
const OPEN_TO_OTHERS = 0o077;

/** Folders in which only the system makes links: `/dev/stdout`, and what a shell makes of `>(command)`. */
const SYSTEM = /^\/(?:dev|proc)\//;

/** Why a report may not be written to that path; undefined where it may. The file need not exist. */
export async function whyNoReport(path: string): Promise<string | undefined> {
	const status = await lstat(path).catch((error: unknown) => {
		if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
		throw error;
	});
	if (status === undefined) return undefined;
	if (status.isDirectory()) return "is a folder";
	// In a folder of other users, a link may lead to a file of this user that they want overwritten.
	if (status.isSymbolicLink() && !isOfSystem(path)) return "is a link to another file; name that file itself";
	return status.isFile() && isForeign(status.uid) ? "belongs to another user" : undefined;
}

/** Opens a report to write it anew, for its owner alone. It follows no links, and closes an existing file to others. */
export async function openReport(path: string): Promise<FileHandle> {
	const why = await whyNoReport(path);
	if (why !== undefined) throw new Error(why);
	const noFollow = isOfSystem(path) ? 0 : constants.O_NOFOLLOW;
	// It is emptied only when it is known to be this user's: another user may have replaced it meanwhile.
	const file = await open(path, constants.O_WRONLY | constants.O_CREAT | noFollow, MODE);
	try {
		const status = await file.stat();
		if (!status.isFile()) return file;
		if (isForeign(status.uid)) throw new Error("belongs to another user");
		if (currentUserId() !== -1 && (status.mode & OPEN_TO_OTHERS) !== 0) await file.chmod(MODE);
		await file.truncate();
		return file;
	} catch (error) {
		await file.close();
		throw error;
	}
}

function isOfSystem(path: string): boolean {
	return SYSTEM.test(resolve(path));
}

function isForeign(owner: number): boolean {
	const own = currentUserId();
	return own !== -1 && owner !== own;
}
