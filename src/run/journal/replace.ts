import { constants } from "node:fs";
import { copyFile, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../../errors.ts";
import { encode } from "./encode.ts";
import { createFile, syncFolder } from "./files.ts";
import type { JournalRecord } from "./records.ts";
import type { JournalFile } from "./writer.ts";

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
