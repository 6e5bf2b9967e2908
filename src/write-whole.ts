import { randomBytes } from "node:crypto";
import { closeSync, fsync, openSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { quietly } from "./errors.ts";

type WholeFile = {
	/** before the user's mask; by default only the user may read the file */
	readonly mode?: number;
	/** false for a file that may be lost with the power: it is not synced */
	readonly isSynced?: boolean;
};

/**
 * Writes a file so that a reader sees the old content or the whole new one, also after a crash: a draft beside it is
 * written, synced and renamed. Its name ends in none that a collector of the folder looks for.
 *
 * Each call takes the system a few microseconds, and in a thread ten times as long. Only the sync waits for the disk.
 */
export async function writeWhole(
	path: string,
	content: string | Uint8Array,
	{ mode = 0o600, isSynced = true }: WholeFile = {},
): Promise<void> {
	const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
	const file = openSync(draft, "wx", mode);
	try {
		try {
			writeFileSync(file, content);
			if (isSynced) await syncFile(file);
		} finally {
			closeSync(file);
		}
		renameSync(draft, path);
	} catch (error) {
		// The error above says what is wrong.
		quietly(() => unlinkSync(draft));
		throw error;
	}
}

/** Resolves once the bytes of an open file, or the names in an open folder, are on the storage. */
export function syncFile(file: number): Promise<void> {
	return new Promise((resolve, reject) => {
		fsync(file, (error) => (error === null ? resolve() : reject(error)));
	});
}
