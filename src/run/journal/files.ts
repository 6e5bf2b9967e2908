import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, type Stats, writeSync } from "node:fs";
import { copyFile, type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { errorCode, reason } from "../../errors.ts";
import { makeFolder } from "../storage/folders.ts";
import { syncFile } from "../../write-whole.ts";
import { JournalUnreadable } from "./errors.ts";
import type { JournalFile } from "./writer.ts";

/** Only the user may read which documents were written. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Bytes that are read at a time: a read costs as much as three hundred records. */
const READ_BYTES = 256 * 1024;

/** Bytes that are unpacked at a time: of a damaged file, the last piece is lost. */
const UNPACKED_BYTES = 64 * 1024;

/** A symbolic link is not followed, and a named pipe without a writer does not block the program. */
export const SAFE_OPEN = constants.O_NOFOLLOW | constants.O_NONBLOCK;

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

/** The name of a file's compressed form. */
export function packedPath(path: string): string {
	return `${path}.gz`;
}

/** A part of a file: offsets of its first byte, and after its last one. */
type Part = { readonly from?: number; readonly to?: number };

/**
 * The bytes of a file in pieces, up to its length when it was opened. Where only its compressed form is there, they are
 * read from that. Undefined where there is neither.
 */
export async function readChunks(path: string, part: Part = {}): Promise<AsyncGenerator<Uint8Array> | undefined> {
	const packed = packedPath(path);
	// Another process may replace the compressed form by the plain one between two tries.
	for (const name of [path, packed, path]) {
		const handle = await openIfThere(name);
		if (handle === undefined) continue;
		const size = await closeOnError(handle, () => sizeOf(handle, name));
		return name === packed
			? partOf(unpacked(chunksOf(handle, { to: size }), packed), part)
			: chunksOf(handle, { ...part, to: Math.min(size, part.to ?? size) });
	}
	return undefined;
}

async function* partOf(
	chunks: AsyncGenerator<Uint8Array>,
	{ from = 0, to = Number.POSITIVE_INFINITY }: Part,
): AsyncGenerator<Uint8Array> {
	let offset = 0;
	for await (const chunk of chunks) {
		if (offset >= to) return;
		const wanted = chunk.subarray(Math.max(0, from - offset), to - offset);
		if (wanted.length > 0) yield wanted;
		offset += chunk.length;
	}
}

/** @throws JournalUnreadable where the compressed bytes are damaged or cut off */
async function* unpacked(chunks: AsyncGenerator<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
	const gunzip = createGunzip({ chunkSize: UNPACKED_BYTES });
	// An error of reading ends both streams, and is thrown by the loop.
	const done = pipeline(chunks, gunzip).catch(() => undefined);
	try {
		for await (const chunk of gunzip) yield chunk;
	} catch (error) {
		if (errorCode(error)?.startsWith("Z_") !== true) throw error;
		throw new JournalUnreadable(`${name} is damaged: ${reason(error)}`, "corrupt");
	} finally {
		gunzip.destroy();
		await done;
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

async function* chunksOf(
	handle: FileHandle,
	{ from = 0, to }: Part & { readonly to: number },
): AsyncGenerator<Uint8Array> {
	try {
		for (let position = from; position < to;) {
			// Each chunk has its own buffer, as a line may begin in one chunk and end in the next.
			const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, to - position));
			const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
			if (bytesRead === 0) return;
			position += bytesRead;
			yield buffer.subarray(0, bytesRead);
		}
	} finally {
		await handle.close();
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

/** Writes a draft durably, in place of one that a killed process left: that may be incomplete. */
export async function writeDraft(path: string, content: Readable, ...transforms: readonly Transform[]): Promise<void> {
	await rm(path, { force: true });
	const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
	const file = await open(path, flags, FILE_MODE);
	await pipeline([content, ...transforms, file.createWriteStream({ flush: true, highWaterMark: READ_BYTES })]);
}

/** Copies of damaged files that are kept under one name. More repairs than this point to another fault. */
const MAX_DAMAGED_COPIES = 100;

/**
 * Writes a new file next to the old one, keeps a copy of the old one, and renames the new one onto it.
 *
 * @param content the bytes of the new file in order
 * @returns path of the copy; undefined where there was no old file
 */
export async function replaceFile(path: string, content: AsyncIterable<Uint8Array>): Promise<string | undefined> {
	const draft = `${path}.new`;
	await writeDraft(draft, Readable.from(content));
	const copy = await keepDamagedCopy(path);
	await rename(draft, path);
	await syncFolder(dirname(path));
	return copy;
}

/** The file is copied, not renamed: a repair that is killed here leaves it as it was. */
async function keepDamagedCopy(path: string): Promise<string | undefined> {
	for (let count = 1; count <= MAX_DAMAGED_COPIES; count++) {
		const copy = count === 1 ? `${path}.damaged` : `${path}.damaged-${count}`;
		try {
			await copyFile(path, copy, constants.COPYFILE_EXCL);
		} catch (error) {
			if (errorCode(error) === "EEXIST") continue;
			if (errorCode(error) === "ENOENT") return undefined;
			throw error;
		}
		await syncPath(copy);
		return copy;
	}
	throw new Error(`${path} has been repaired ${MAX_DAMAGED_COPIES} times; move the .damaged files away`);
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
