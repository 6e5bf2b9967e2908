import { constants, type Stats } from "node:fs";
import { chmod, lstat, open, readdir, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { CliError, errorCode, Exit } from "../../errors.ts";

/** Who keeps the folders, and who hears of one that was closed to others. */
export type CurrentUser = {
	/** user id of this process; -1 on a system without owners */
	readonly uid: number;
	readonly note: (text: string) => void;
};

const ROOT = 0;

/** Bits of a mode: others may write, and others may do anything at all. */
const WRITABLE = 0o022;
const OPEN = 0o077;

/** Of a folder that is its owner's alone. */
const PRIVATE = 0o700;

/** The user id of this process. One that no list of users knows is nobody's: only root's folders are then taken. */
export function currentUserId(): number {
	try {
		return userInfo().uid;
	} catch {
		return Number.NaN;
	}
}

/**
 * Sees that only this user and root can have written what is in a folder: it says where a run's requests go, and with
 * them the key. A folder of the user's own that is open to others is closed, where all in it is the user's; any other
 * is refused. One that is not there yet is nobody's.
 *
 * @param isOurs whether a folder of others' things may not be closed: only what has these names in it is ours
 * @throws CliError exit 2
 */
export async function securePrivateFolder(
	path: string,
	keeper: CurrentUser,
	isOurs?: (name: string) => boolean,
): Promise<void> {
	const { uid } = keeper;
	if (uid === -1) return;
	const link = await statusOf(path, lstat);
	if (link === undefined) return;
	if (isForeign(link.uid, uid)) throw belongsToAnother(path);
	// A link of one's own may lead to another disk; what is there is left as it is.
	const status = link.isSymbolicLink() ? await statusOf(path, stat) : link;
	if (status === undefined || !status.isDirectory()) return;
	if (isForeign(status.uid, uid)) throw belongsToAnother(path);
	if ((status.mode & OPEN) === 0) return;
	const isWritable = (status.mode & WRITABLE) !== 0;
	// To be read by others does no harm to a folder that has more in it than ours.
	if (!isWritable && isOurs !== undefined) return;
	if (isOurs !== undefined && !(await readdir(path)).every(isOurs)) throw writable(path);
	await checkEntries(path, uid);
	const closed = status.uid === uid && !link.isSymbolicLink() ? await close(path) : false;
	if (!closed && isWritable) throw writable(path);
	if (isWritable) keeper.note(`${path} could be written by others: now it is yours alone (mode 0700).`);
}

/** Reads a file that only this user and root can have written. @throws CliError exit 2 where others can, or could */
export async function readPrivateFile(path: string, { uid }: CurrentUser): Promise<string> {
	const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		// The open file is asked, not the path: it can't be exchanged between the check and the reading.
		const status = await file.stat();
		if (uid !== -1 && isForeign(status.uid, uid)) throw belongsToAnother(path);
		if (uid !== -1 && (status.mode & WRITABLE) !== 0) throw writable(path);
		return await file.readFile("utf8");
	} finally {
		await file.close();
	}
}

/** Files of a folder that others could reach. @throws CliError exit 2 where one is not the user's, or others can write it */
async function checkEntries(folder: string, uid: number): Promise<void> {
	for (const name of await readdir(folder)) {
		const path = join(folder, name);
		const status = await statusOf(path, lstat);
		if (status === undefined) continue;
		if (isForeign(status.uid, uid)) throw belongsToAnother(path);
		// A folder in it is looked at when it is used.
		if (status.isFile() && (status.mode & WRITABLE) !== 0) throw writable(path);
	}
}

function isForeign(owner: number, uid: number): boolean {
	return owner !== uid && owner !== ROOT;
}

async function close(path: string): Promise<boolean> {
	return chmod(path, PRIVATE).then(
		() => true,
		() => false,
	);
}

async function statusOf(path: string, ask: (path: string) => Promise<Stats>): Promise<Stats | undefined> {
	try {
		return await ask(path);
	} catch (error) {
		if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
		throw error;
	}
}

function belongsToAnother(path: string): CliError {
	return new CliError(`${path} belongs to another user, who could choose where the key goes; nothing was sent`, {
		exit: Exit.usage,
		hint: "Name a folder of your own with --state-dir DIR or RAGTAG_STATE_DIR.",
	});
}

function writable(path: string): CliError {
	return new CliError(`${path} can be written by others, who could choose where the key goes; nothing was sent`, {
		exit: Exit.usage,
		hint: `If all in it is yours, run: chmod -R go-w '${path}'; or name a folder of your own with --state-dir DIR.`,
	});
}

/** What lies in a state folder. One that has anything else in it is not ours to close to others. */
const OURS: readonly string[] = ["runs", "services", "tmp"];

/** Sees that nobody else can have written what is in a state folder. @throws CliError exit 2 */
export async function secureStateFolder(path: string, keeper: CurrentUser): Promise<void> {
	await securePrivateFolder(path, keeper, (name) => OURS.includes(name));
}
