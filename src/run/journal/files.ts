import {
	closeSync,
	constants,
	createReadStream,
	createWriteStream,
	existsSync,
	fstatSync,
	lstatSync,
	mkdirSync,
	openSync,
	type Stats,
	writeSync,
} from "node:fs";
import { copyFile, type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pipeline as piped, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { errorCode, reason } from "../../errors.ts";
import { makeFolder } from "../storage/folders.ts";
import { syncFile } from "../../write-whole.ts";
import { damagedJournal } from "./errors.ts";
import type { Chunks } from "./lines.ts";
import type { JournalFile } from "./writer.ts";

/** Only the user may read which documents were written. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Bytes that are read at a time: a read costs as much as three hundred records. */
const READ_BYTES = 256 * 1024;

/** Bytes that are unpacked at a time: of a damaged file, the last piece is lost. */
const UNPACKED_BYTES = 64 * 1024;

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
	const made = makeFolder(dirname(resolve(path)));
	mkdirSync(path, { mode: FOLDER_MODE });
	return [...made, resolve(path)].map((folder) => dirname(folder));
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
 * a process that was killed may have written them without a sync. A compressed file is made plain first.
 */
export async function reopenFile(path: string, goodLength: number): Promise<JournalFile> {
	const packed = packedPath(path);
	if (!existsSync(path) && existsSync(packed)) await replaceFile(path, readChunks(path), packed);
	// It would lack the records that follow.
	await rm(packed, { force: true });
	const handle = await open(path, constants.O_RDWR | constants.O_APPEND | SAFE_OPEN);
	return await closeOnError(handle, async () => {
		if ((await sizeOf(handle, path)) > goodLength) await handle.truncate(goodLength);
		await handle.sync();
		return journalFile(handle, path);
	});
}

/** Level of compression: on journals 3 is faster than 1, and 6 saves only 7 percent more. */
const LEVEL = 3;

/** The compressed form of a file that nothing is appended to. Where the plain file is there too, that one counts. */
export function packedPath(path: string): string {
	return `${path}.gz`;
}

/** Replaces a file by its compressed form. */
export async function packFile(path: string): Promise<void> {
	const gzip = createGzip({ level: LEVEL, chunkSize: READ_BYTES });
	await replaceFile(
		packedPath(path),
		piped(createReadStream(path), gzip, () => undefined),
		path,
	);
}

/**
 * The bytes of a file in pieces, plain or compressed; none where there is neither.
 *
 * @param end offset after the last byte
 */
export async function* readChunks(path: string, end = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
	// Between two tries another process may make the file plain.
	for (const name of [path, packedPath(path), path]) {
		const handle = await openIfThere(name);
		if (handle === undefined) continue;
		await closeOnError(handle, () => sizeOf(handle, name));
		const bytes = handle.createReadStream({ highWaterMark: READ_BYTES });
		const chunks: AsyncIterable<Uint8Array> = name === path ? bytes : unpacked(bytes, name);
		let left = end;
		for await (const chunk of chunks) {
			if (left <= 0) return;
			yield chunk.subarray(0, left);
			left -= chunk.length;
		}
		return;
	}
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
	try {
		return await open(path, constants.O_RDONLY | SAFE_OPEN);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}

/** @throws JournalUnreadable where the compressed bytes are damaged or cut off */
async function* unpacked(bytes: Readable, name: string): AsyncGenerator<Uint8Array> {
	try {
		for await (const chunk of piped(bytes, createGunzip({ chunkSize: UNPACKED_BYTES }), () => undefined)) yield chunk;
	} catch (error) {
		if (errorCode(error)?.startsWith("Z_") !== true) throw error;
		throw damagedJournal(`${name} is damaged: ${reason(error)}`, name);
	}
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
 * Writes a new file in place of an old one: as a draft, which is renamed once it is durable. The old one is removed after
 * that. So a kill leaves one of them whole, perhaps both, and perhaps a draft that is incomplete.
 *
 * @param content the bytes of the new file in order
 * @param old the file that is replaced, which may have the same path
 * @param copy path of a copy of the old one, which must not exist yet
 */
export async function replaceFile(path: string, content: Chunks, old: string, copy?: string): Promise<void> {
	const draft = `${path}.new`;
	await rm(draft, { force: true });
	try {
		await pipeline(content, createWriteStream(draft, { flags: "wx", mode: FILE_MODE, flush: true }));
		if (copy !== undefined) {
			await copyFile(old, copy, constants.COPYFILE_EXCL);
			await syncPath(copy);
		}
		await rename(draft, path);
	} catch (error) {
		await rm(draft, { force: true });
		throw error;
	}
	await syncFolder(dirname(path));
	if (old !== path) await rm(old);
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
