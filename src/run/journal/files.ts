import { constants } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../../errors.ts";
import { makeFolder } from "../storage/folders.ts";
import type { JournalFile } from "./writer.ts";
import { encode } from "./encode.ts";
import type { JournalRecord } from "./records.ts";

/** Only the user may see what is written where. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Bytes read at a time. */
const CHUNK = 64 * 1024;

/** A name that leads elsewhere is not followed, and a pipe that nobody writes to does not hold the program up. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What a file system says that can't sync a folder. */
const NO_FOLDER_SYNC: readonly (string | undefined)[] = ["EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/** Makes a folder that must not be there yet, and those above it that are missing; durable when it resolves. */
export async function createFolder(path: string): Promise<void> {
	const above = dirname(resolve(path));
	const [first] = await makeFolder(above);
	await mkdir(path, { mode: FOLDER_MODE });
	// A new folder is durable when the one that has its name is.
	const last = first === undefined ? above : dirname(resolve(first));
	for (let folder = above; ; folder = dirname(folder)) {
		await syncFolder(folder);
		if (folder === last || folder === dirname(folder)) return;
	}
}

/** Makes the names in a folder durable: syncing a file does not. */
export async function syncFolder(path: string): Promise<void> {
	const folder = await open(path, constants.O_RDONLY);
	try {
		await folder.sync();
	} catch (error) {
		if (!NO_FOLDER_SYNC.includes(errorCode(error))) throw error;
	} finally {
		await folder.close();
	}
}

/** Makes a file that must not be there yet, to append to; its name is durable when it resolves. */
export async function createFile(path: string): Promise<JournalFile> {
	const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
	const handle = await open(path, flags, FILE_MODE);
	return await orClose(handle, async () => {
		await syncFolder(dirname(resolve(path)));
		return journalFile(handle);
	});
}

/**
 * Opens a file to append to it behind its good records. What is behind them is cut off, and the cut is durable before
 * anything is appended: otherwise a record could end up behind the remains of a torn one. The records are durable, too:
 * a process that was killed may have written them and not waited for the storage.
 */
export async function reopenFile(path: string, goodLength: number): Promise<JournalFile> {
	const handle = await open(path, constants.O_RDWR | constants.O_APPEND | SAFELY);
	return await orClose(handle, async () => {
		if ((await sizeOf(handle, path)) > goodLength) await handle.truncate(goodLength);
		await handle.sync();
		return journalFile(handle);
	});
}

/** The bytes of a file in pieces, up to where it ended when it was opened; undefined where there is no such file. */
export async function readChunks(path: string): Promise<AsyncGenerator<Uint8Array> | undefined> {
	let handle: FileHandle;
	try {
		handle = await open(path, constants.O_RDONLY | SAFELY);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
	return chunksOf(handle, await orClose(handle, () => sizeOf(handle, path)));
}

async function* chunksOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
	try {
		for (let position = 0; position < size;) {
			// A new buffer each time: a line may begin in one and end in the next.
			const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size - position));
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

function journalFile(handle: FileHandle): JournalFile {
	return {
		write: async (bytes) => (await handle.write(bytes)).bytesWritten,
		sync: () => handle.datasync(),
		size: () => handle.stat(),
		close: () => handle.close(),
	};
}

async function orClose<Value>(handle: FileHandle, use: () => Promise<Value>): Promise<Value> {
	try {
		return await use();
	} catch (error) {
		await handle.close();
		throw error;
	}
}

/** Characters that are written at a time. */
const BATCH = 256 * 1024;

/** Damaged files that one folder may have of a name: nobody repairs that often. */
const MOST_ORIGINALS = 100;

/**
 * Writes a file of records anew beside the old one, keeps a copy of that, and lets the new one take its place at once.
 *
 * @param fill gives the records
 * @returns where the old one is now, undefined where there was none
 */
export async function replaceFile(
	path: string,
	fill: (take: (record: JournalRecord) => Promise<void>) => Promise<void>,
): Promise<string | undefined> {
	const next = `${path}.new`;
	// What an earlier repair left that did not come to its end.
	await rm(next, { force: true });
	const file = await createFile(next);
	try {
		let waiting = "";
		await fill(async (record) => {
			waiting += encode(record);
			if (waiting.length < BATCH) return;
			await writeAll(file, waiting);
			waiting = "";
		});
		await writeAll(file, waiting);
		await file.sync();
	} finally {
		await file.close();
	}
	const original = await keepCopy(path);
	await rename(next, path);
	await syncFolder(dirname(path));
	return original;
}

async function writeAll(file: JournalFile, text: string): Promise<void> {
	let bytes: Uint8Array = Buffer.from(text);
	while (bytes.length > 0) {
		const taken = await file.write(bytes);
		if (taken <= 0) throw new Error("the storage takes no more bytes");
		bytes = bytes.subarray(taken);
	}
}

/** A copy, and no second name: a repair that is cut off here leaves the file as it was. */
async function keepCopy(path: string): Promise<string | undefined> {
	for (let count = 1; count <= MOST_ORIGINALS; count++) {
		const copy = count === 1 ? `${path}.damaged` : `${path}.damaged-${count}`;
		try {
			await copyFile(path, copy, constants.COPYFILE_EXCL);
		} catch (error) {
			if (errorCode(error) === "EEXIST") continue;
			if (errorCode(error) === "ENOENT") return undefined;
			throw error;
		}
		const handle = await open(copy, constants.O_RDONLY);
		try {
			await handle.sync();
		} finally {
			await handle.close();
		}
		return copy;
	}
	throw new Error(`${path} has been repaired ${MOST_ORIGINALS} times; move the .damaged files away`);
}
