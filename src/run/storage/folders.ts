import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../../errors.ts";

/** Only the user may see what is written where. */
const FOLDER_MODE = 0o700;

/**
 * Makes a folder and those above it that are missing. Node's own recursive way says "no such file or directory" where a
 * file system is read-only or refuses, which sends the user looking for a file that nobody misses.
 *
 * @returns the folders that it made, the outermost first
 */
export async function makeFolder(path: string): Promise<readonly string[]> {
	const folder = resolve(path);
	const made: string[] = [];
	try {
		await mkdir(folder, { mode: FOLDER_MODE });
		return [folder];
	} catch (error) {
		if (errorCode(error) === "EEXIST" && (await isFolder(folder))) return made;
		if (errorCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
	}
	made.push(...(await makeFolder(dirname(folder))));
	try {
		await mkdir(folder, { mode: FOLDER_MODE });
		made.push(folder);
	} catch (error) {
		// Another process may have made it meanwhile.
		if (errorCode(error) !== "EEXIST" || !(await isFolder(folder))) throw error;
	}
	return made;
}

async function isFolder(path: string): Promise<boolean> {
	return stat(path).then(
		(status) => status.isDirectory(),
		() => false,
	);
}
