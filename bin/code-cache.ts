import {
	closeSync,
	constants,
	fstatSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	type Stats,
	writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { crc32 } from "node:zlib";

/** Only the user may read or write what will run as the program. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** The bits of a mode that let others write. */
const WRITE_FOR_OTHERS = 0o022;

/** Some 30 MB: each of about thirty commands has a file of about 1 MB, and an update of Node or of ragtag makes new ones. */
const MOST_FILES = 30;

const SUFFIX = ".code";

/** The header of a file: a mark, the length of the code in bytes, and its CRC-32. Three little-endian words of 32 bits. */
const HEADER_BYTES = 12;
const MARK = 0x31_43_47_52;

/**
 * The folder for compiled code: `ragtag/code` in the user's folder for caches (XDG_CACHE_HOME, by default ~/.cache).
 *
 * @returns undefined where the user has no such folder, or has turned off caches of code with Node's own variables
 */
export function codeFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
	// Node itself keeps no code either while it measures which lines ran.
	if ((env["NODE_DISABLE_COMPILE_CACHE"] ?? "") !== "" || (env["NODE_V8_COVERAGE"] ?? "") !== "") return undefined;
	const caches = env["XDG_CACHE_HOME"];
	// The XDG specification says to ignore a relative folder.
	if (caches?.startsWith("/")) return join(caches, "ragtag", "code");
	try {
		return join(homedir(), ".cache", "ragtag", "code");
	} catch {
		// A user that the system does not know, as in many containers, if HOME is not set.
		return undefined;
	}
}

/**
 * The code that an earlier process has kept under this name.
 *
 * V8 itself would crash on damaged code, so a checksum is compared first. What others can have written is not read: it would
 * run as this user.
 *
 * @returns undefined where there is none that can be trusted
 */
export function readCode(folder: string, name: string): Buffer | undefined {
	try {
		if (!isOwn(statSync(folder))) return undefined;
		// The open file is checked, not the path: another file can't take its place between check and reading.
		const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
		const file = openSync(join(folder, name + SUFFIX), flags);
		try {
			const status = fstatSync(file);
			if (!status.isFile() || !isOwn(status)) return undefined;
			return unpacked(readFileSync(file));
		} finally {
			closeSync(file);
		}
	} catch {
		return undefined;
	}
}

/** Keeps code for later processes. Does nothing where the folder can't be written or is open to others. */
export function keepCode(folder: string, name: string, code: Buffer): void {
	const temporary = join(folder, `${name}.${process.pid}.tmp`);
	try {
		mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
		if (!isOwn(statSync(folder))) return;
		const header = Buffer.alloc(HEADER_BYTES);
		header.writeUInt32LE(MARK, 0);
		header.writeUInt32LE(code.length, 4);
		header.writeUInt32LE(crc32(code), 8);
		// A process of the same number may have been killed.
		remove(temporary);
		writeFileSync(temporary, Buffer.concat([header, code]), { flag: "wx", mode: FILE_MODE });
		// No process reads half a file. After a loss of power the file may be empty or damaged; its reader checks that.
		renameSync(temporary, join(folder, name + SUFFIX));
		removeOldest(folder);
	} catch {
		remove(temporary);
	}
}

function remove(path: string): void {
	try {
		rmSync(path, { force: true });
	} catch {
		// Such as a folder that is a file: there is nothing to remove.
	}
}

function unpacked(bytes: Buffer): Buffer | undefined {
	if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== MARK) return undefined;
	const code = bytes.subarray(HEADER_BYTES);
	if (code.length !== bytes.readUInt32LE(4) || crc32(code) !== bytes.readUInt32LE(8)) return undefined;
	return code;
}

/** Whether only this user and root can have written it. On a system where files have no owners, there is nothing to check. */
function isOwn({ uid, mode }: Stats): boolean {
	const user = process.geteuid?.();
	return user === undefined || ((uid === user || uid === 0) && (mode & WRITE_FOR_OTHERS) === 0);
}

function removeOldest(folder: string): void {
	const files = readdirSync(folder).map((name) => ({ path: join(folder, name), age: 0 }));
	if (files.length <= MOST_FILES) return;
	for (const file of files) file.age = statSync(file.path).mtimeMs;
	for (const { path } of files.toSorted((one, other) => other.age - one.age).slice(MOST_FILES)) remove(path);
}
