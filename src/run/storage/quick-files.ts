import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readFileSync, type Stats, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import { writeWhole } from "../../write-whole.ts";
import { makeFolder } from "./folders.ts";

// Calls on the small files of the state folder. Each takes the system a few microseconds. In a thread it would take ten
// times as long, and a command of one row makes a hundred of them. Only a sync waits for the disk: it gets its thread.

/** The text of a small file; undefined where there is none. @throws every other error of the storage */
export function readTextIfThere(path: string, flags = 0): string | undefined {
	let file: number;
	try {
		// A pipe that was put there is not waited for.
		file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
	try {
		return readFileSync(file, "utf8");
	} finally {
		closeSync(file);
	}
}

/** The status of a file; undefined where there is none. @throws every other error of the storage */
export function statusOf(path: string, read: (path: string) => Stats = statSync): Stats | undefined {
	try {
		return read(path);
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
}

/** Removes a file, if it is there. @throws every other error of the storage */
export function removeFile(path: string): void {
	try {
		unlinkSync(path);
	} catch (error) {
		if (!isAbsent(error)) throw error;
	}
}

/** The same for a file that does no harm where it stays. */
export function removeQuietly(path: string): void {
	try {
		unlinkSync(path);
	} catch {
		// It is not there, or the storage refuses.
	}
}

/** Whether an error means that there is no such file. */
export function isAbsent(error: unknown): boolean {
	const code = errorCode(error);
	return code === "ENOENT" || code === "ENOTDIR";
}

/** A small file below the state folder about one address, so that two runs never write over each other's. */
export type ServiceFile = ReturnType<typeof fileOfService>;

export function fileOfService(stateDir: string, baseUrl: string, ending: string) {
	const folder = join(stateDir, "services");
	const path = join(folder, `${createHash("sha256").update(baseUrl).digest("hex").slice(0, 16)}.${ending}`);
	return {
		path,
		/** undefined where there is none. @throws every other error of the storage */
		read: () => readTextIfThere(path),
		/** Never rejects: what can't be kept is found anew by the next command, and the shell offers no names. */
		async write(text: string): Promise<void> {
			try {
				// Node's own recursive mkdir never ends where an existing folder refuses with "no such file", as /proc does.
				makeFolder(folder);
				await writeWhole(path, text, { isSynced: false });
			} catch {
				// As above.
			}
		},
	};
}
