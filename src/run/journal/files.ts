import {
	closeSync,
	constants,
	createWriteStream,
	fstatSync,
	lstatSync,
	mkdirSync,
	openSync,
	type Stats,
	writeSync,
} from "node:fs";
import { copyFile, type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { errorCode } from "../../errors.ts";
import { makeFolder } from "../storage/folders.ts";
import { syncFile } from "../../write-whole.ts";
import type { Chunks } from "./lines.ts";
import type { JournalFile } from "./writer.ts";

/** Only the user may read which documents were written. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Bytes that are read at a time: a read costs as much as three hundred records. */
const READ_BYTES = 256 * 1024;

/** A symbolic link is not followed, and a named pipe without a writer does not block the program. */
const SAFE_OPEN = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Error codes of file systems that can't sync a folder. */
const NO_FOLDER_SYNC: readonly (string | undefined)[] = ["EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/**
 * Makes a folder that must not exist yet, and its missing parents.
 *
 * @returns the folders that contain their names: the new ones are durable once `syncFolder` has resolved for each
 */
export function createFolder(path: string): readonly string[] {
	const parent = dirname(resolve(path));
	const [outermost] = makeFolder(parent);
	mkdirSync(path, { mode: FOLDER_MODE });
	const last = outermost === undefined ? parent : dirname(resolve(outermost));
	const containing: string[] = [];
	for (let folder = parent; ; folder = dirname(folder)) {
		containing.push(folder);
		if (folder === last || folder === dirname(folder)) return containing;
	}
}

/** Makes the names in a folder durable, which to sync a file does not. */
export async function syncFolder(path: string): Promise<void> {
	await syncPath(path).catch((error: unknown) => {
		if (!NO_FOLDER_SYNC.includes(errorCode(error))) throw error;
	});
}

async function syncPath(path: string): Promise<void> {
	const file = openSync(path, constants.O_RDONLY);
	try {
		await syncFile(file);
	} finally {
		closeSync(file);
	}
}

/** Creates a file to append to, which must not exist yet. Its name is durable once its folder is synced. */
export async function createFile(path: string): Promise<JournalFile> {
	const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
	return journalFile(await open(path, flags, FILE_MODE), path);
}

/**
 * Opens a file to append to it after its good records. Bytes after them are cut off, and the cut is durable before any
 * record is appended: otherwise a record could follow the remains of a torn one. The good records are made durable too:
 * a process that was killed may have written them without a sync.
 */
export async function reopenFile(path: string, goodLength: number): Promise<JournalFile> {
	const handle = await open(path, constants.O_RDWR | constants.O_APPEND | SAFE_OPEN);
	return await closeOnError(handle, async () => {
		if ((await sizeOf(handle, path)) > goodLength) await handle.truncate(goodLength);
		await handle.sync();
		return journalFile(handle, path);
	});
}

/** The bytes of a file in pieces; undefined where there is none. @param end offset after the last byte */
export async function readChunks(path: string, end = Number.POSITIVE_INFINITY): Promise<Chunks | undefined> {
	let handle: FileHandle;
	try {
		handle = await open(path, constants.O_RDONLY | SAFE_OPEN);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
	return closeOnError(handle, async () => {
		await sizeOf(handle, path);
		return end === 0 ? [] : handle.createReadStream({ end: end - 1, highWaterMark: READ_BYTES });
	});
}

async function sizeOf(handle: FileHandle, path: string): Promise<number> {
	const status = await handle.stat();
	if (!status.isFile()) throw new Error(`${path} is not a file`);
	return status.size;
}

async function closeOnError<Value>(handle: FileHandle, use: () => Promise<Value>): Promise<Value> {
	try {
		return await use();
	} catch (error) {
		await handle.close();
		throw error;
	}
}

/**
 * Writes a new file next to the old one, keeps a copy of the old one, and renames the new one onto it. A repair that is
 * killed before that leaves the old one as it was, and perhaps a new one that is incomplete.
 *
 * @param content the bytes of the new file in order
 * @param copy path of the copy, which must not exist yet
 */
export async function replaceFile(path: string, content: AsyncIterable<Uint8Array>, copy: string): Promise<void> {
	const draft = `${path}.new`;
	await rm(draft, { force: true });
	await pipeline(content, createWriteStream(draft, { flags: "wx", mode: FILE_MODE, flush: true }));
	await copyFile(path, copy, constants.COPYFILE_EXCL);
	await syncPath(copy);
	await rename(draft, path);
	await syncFolder(dirname(path));
}

/** An open file of a run, for its writer. @param path where it was opened */
function journalFile(handle: FileHandle, path: string): JournalFile {
	// Some stacked file systems number an open file in another way than its path. There the two can't be compared.
	const isComparable = isAt(fstatSync(handle.fd), path);
	return {
		// In a thread it would take ten times as long.
		write: (bytes) => writeSync(handle.fd, bytes),
		size: () => {
			const file = fstatSync(handle.fd);
			// No command finds a file whose folder was moved: it counts as removed.
			return { size: file.size, nlink: isComparable && !isAt(file, path) ? 0 : file.nlink };
		},
		sync: () => handle.datasync(),
		close: () => handle.close(),
	};
}

function isAt({ ino, dev }: Stats, path: string): boolean {
	const named = lstatSync(path, { throwIfNoEntry: false });
	return ino === named?.ino && dev === named.dev;
}
