import {
	chmodSync,
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	readdirSync,
	readFileSync,
	statSync,
} from "node:fs";
import { join } from "node:path";
import { type CliError, usageError } from "../../errors.ts";
import { ifThere } from "./quick-files.ts";

/** The user of this process, and how to inform that user. */
export type CurrentUser = {
	/** -1 on a system where files have no owners, NaN where the user is unknown */
	readonly uid: number;
	readonly note: (text: string) => void;
};

const ROOT = 0;

/** Bits of a mode: write access for others, and any access for others. */
const WRITE_FOR_OTHERS = 0o022;
const ANY_FOR_OTHERS = 0o077;

/** Mode of a folder that only its owner can use. */
const PRIVATE_MODE = 0o700;

/**
 * Ensures that only this user and root can have written the files of a folder. A record in it says where a run's requests
 * go, and the key with them. A folder of the user's own that others can use is closed to them, provided that no file in
 * it is suspect. Any other such folder is refused. A folder that does not exist yet is accepted.
 *
 * @param isOurs whether this program makes entries of that name. Where it is given, a folder with other entries is not
 *   closed: others may read it, and it is refused where others can write it
 * @throws CliError exit 2
 */
export function securePrivateFolder(path: string, user: CurrentUser, isOurs?: (name: string) => boolean): void {
	secure(path, user, () => checkEntries(path, user.uid), isOurs);
}

function secure(path: string, user: CurrentUser, checkContent: () => void, isOurs?: (name: string) => boolean): void {
	const { uid } = user;
	if (uid === -1) return;
	const link = ifThere(() => lstatSync(path));
	if (link === undefined) return;
	if (isForeign(link.uid, uid)) throw belongsToAnother(path);
	// The user's own link may lead to another disk. The mode of a folder there is not changed.
	const status = link.isSymbolicLink() ? ifThere(() => statSync(path)) : link;
	if (status === undefined || !status.isDirectory()) return;
	if (isForeign(status.uid, uid)) throw belongsToAnother(path);
	if ((status.mode & ANY_FOR_OTHERS) === 0) return;
	const isWritable = (status.mode & WRITE_FOR_OTHERS) !== 0;
	// Such a folder may have other files in it too, so others may read it.
	if (!isWritable && isOurs !== undefined) return;
	if (isOurs !== undefined && !readdirSync(path).every(isOurs)) throw writable(path);
	checkContent();
	const isClosed = status.uid === uid && !link.isSymbolicLink() && closeToOthers(path);
	if (!isClosed && isWritable) throw writable(path);
	if (isWritable) user.note(`${path} was writable by others; its mode is now 0700.`);
}

/** Reads a file that only this user and root can have written. @throws CliError exit 2 for any other file */
export function readPrivateFile(path: string, { uid }: CurrentUser): string {
	const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		// The open file is checked, not the path: another file can't take its place between check and reading.
		const status = fstatSync(file);
		if (uid !== -1 && isForeign(status.uid, uid)) throw belongsToAnother(path);
		if (uid !== -1 && (status.mode & WRITE_FOR_OTHERS) !== 0) throw writable(path);
		return readFileSync(file, "utf8");
	} finally {
		closeSync(file);
	}
}

/** Checks the files of a folder that others could write into. @throws CliError exit 2 where one is foreign or writable */
function checkEntries(folder: string, uid: number): void {
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		const status = ifThere(() => lstatSync(path));
		if (status === undefined) continue;
		if (isForeign(status.uid, uid)) throw belongsToAnother(path);
		// A folder in it is checked when it is used.
		if (status.isFile() && (status.mode & WRITE_FOR_OTHERS) !== 0) throw writable(path);
	}
}

function isForeign(owner: number, uid: number): boolean {
	return owner !== uid && owner !== ROOT;
}

function closeToOthers(path: string): boolean {
	try {
		chmodSync(path, PRIVATE_MODE);
		return true;
	} catch {
		return false;
	}
}

function belongsToAnother(path: string): CliError {
	return usageError(
		`${path} belongs to another user, who could choose where the key goes; nothing was sent`,
		"Name your own folder with --state-dir DIR or RAGTAG_STATE_DIR.",
	);
}

function writable(path: string): CliError {
	return usageError(
		`${path} can be written by others, who could choose where the key goes; nothing was sent`,
		`If everything in it is yours, run: chmod -R go-w '${path}'; or name your own folder with --state-dir DIR.`,
	);
}

/**
 * Ensures that only this user and root can have made the folder that temporary folders are in. Each process makes its own in
 * it and reads no other, so what another user has there is left alone.
 *
 * @throws CliError exit 2
 */
export function secureTemporaryFolder(path: string, user: CurrentUser): void {
	secure(path, user, () => undefined);
}

/** The folders of a state folder. One with other entries is not this program's alone, so it is not closed to others. */
const STATE_ENTRIES: readonly string[] = ["runs", "services", "tmp"];

/** Ensures that no other user can have written the files of a state folder. @throws CliError exit 2 */
export function secureStateFolder(path: string, user: CurrentUser): void {
	securePrivateFolder(path, user, (name) => STATE_ENTRIES.includes(name));
}
