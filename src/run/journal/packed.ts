import { constants } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, type Transform } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { errorCode } from "../../errors.ts";
import { JournalUnreadable } from "./errors.ts";
import { packedPath, readChunks, SAFE_OPEN, syncFolder, writeDraft } from "./files.ts";
import { JOURNAL_FILE } from "./reader.ts";

/** Bytes below which a file stays as it is: compressing it would save little, and any tool can read it. */
const LEAST = 64 * 1024;

/** Level of compression. On journals it is faster than level 1, and level 6 saves only 7 percent more. */
const LEVEL = 3;

/** Bytes that are read and written at a time. */
const PIECE = 256 * 1024;

/** Bytes of a journal that are compressed at the end of a run: about half a second. */
export const PACKED_AT_END = 64 * 1024 * 1024;

/**
 * Compresses the journal of a run that ended. The process holds the run's lock, and its writer is closed.
 *
 * @param most bytes of the journal, above which nothing is done
 */
export async function packRun(folder: string, most = Number.POSITIVE_INFINITY): Promise<void> {
	const path = join(folder, JOURNAL_FILE);
	const { size } = (await statIfThere(path)) ?? { size: 0 };
	if (size >= LEAST && size <= most) await pack(path);
}

/** Whether the journal of a run is plain, and compressing it would make it much smaller. */
export async function isLong(folder: string): Promise<boolean> {
	return ((await statIfThere(join(folder, JOURNAL_FILE)))?.size ?? 0) >= LEAST;
}

/**
 * Replaces a file by its compressed form. The plain file is removed only after the compressed one is durable under its
 * name. A kill in between leaves both with the same content, and the plain one counts.
 */
async function pack(path: string): Promise<void> {
	await rewrite(path, packedPath(path), `${path}.packing`, createGzip({ level: LEVEL, chunkSize: PIECE }));
}

/**
 * Replaces the compressed form of a file by the plain one, so that records can be appended to it. Does nothing where only
 * the plain one is there. Nothing may be appended before it resolves: then no compressed form with fewer records is left.
 *
 * @throws an error of zlib where the compressed form is damaged
 */
export async function unpack(path: string): Promise<void> {
	const packed = packedPath(path);
	if ((await statIfThere(packed)) === undefined) return;
	if ((await statIfThere(path)) === undefined) {
		await rewrite(packed, path, `${path}.unpacking`, createGunzip({ chunkSize: PIECE }));
	} else await rm(packed, { force: true });
	await syncFolder(dirname(path));
}

/**
 * Makes a file plain again for a repair, also where its compressed form is damaged: then with the bytes before the damage.
 *
 * @returns path under which the damaged compressed form is kept; undefined where it is not damaged
 */
export async function salvage(path: string): Promise<string | undefined> {
	try {
		await unpack(path);
		return undefined;
	} catch (error) {
		if (errorCode(error)?.startsWith("Z_") !== true) throw error;
	}
	const draft = `${path}.unpacking`;
	await writeDraft(draft, Readable.from(undamaged(path)));
	const kept = `${packedPath(path)}.damaged`;
	await rename(packedPath(path), kept);
	await rename(draft, path);
	await syncFolder(dirname(path));
	return kept;
}

/** The bytes of a file before its damage. */
async function* undamaged(path: string): AsyncGenerator<Uint8Array> {
	try {
		yield* (await readChunks(path)) ?? [];
	} catch (error) {
		if (!(error instanceof JournalUnreadable)) throw error;
	}
}

/** Writes a file through a transform to a draft, makes the draft durable under its new name, and removes the file. */
async function rewrite(from: string, to: string, draft: string, transform: Transform): Promise<void> {
	const source = await open(from, constants.O_RDONLY | SAFE_OPEN);
	try {
		await writeDraft(draft, source.createReadStream({ highWaterMark: PIECE }), transform);
	} catch (error) {
		await rm(draft, { force: true });
		throw error;
	}
	await rename(draft, to);
	await syncFolder(dirname(to));
	await rm(from, { force: true });
}

async function statIfThere(path: string): Promise<{ readonly size: number } | undefined> {
	try {
		return await stat(path);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}
