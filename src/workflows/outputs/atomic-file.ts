import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/**
 * Writes a file so that a reader sees the old content or the whole new one, also after a crash: a temporary file beside it is
 * written, synced and renamed. The temporary name ends in none that a collector of the folder looks for.
 *
 * @param mode of the file, before the user's mask
 */
export async function writeAtomically(path: string, text: string, mode: number): Promise<void> {
	const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
	const file = await open(temporary, "wx", mode);
	try {
		try {
			await file.writeFile(text);
			await file.sync();
		} finally {
			await file.close();
		}
		await rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}
