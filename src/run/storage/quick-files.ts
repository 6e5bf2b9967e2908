import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errorCode, quietly } from "../../errors.ts";
import { writeWhole } from "../../write-whole.ts";
import { makeFolder } from "./folders.ts";

// Calls on the small files of the state folder. Each takes the system a few microseconds. In a thread it would take ten
// times as long, and a command of one row makes a hundred of them. Only a sync waits for the disk: it gets its thread.

/** The result of a call on a file; undefined where there is no such file. @throws every other error of the storage */
export function ifThere<Result>(call: () => Result): Result | undefined {
	try {
		return call();
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
}

/** The text of a small file; undefined where there is none. @throws every other error of the storage */
export function readTextIfThere(path: string, flags = 0): string | undefined {
	// A pipe that was put there is not waited for.
	const file = ifThere(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags));
	if (file === undefined) return undefined;
	try {
		return readFileSync(file, "utf8");
	} finally {
		closeSync(file);
	}
}

/** Removes a file, if it is there. @throws every other error of the storage */
export function removeFile(path: string): void {
	ifThere(() => unlinkSync(path));
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
		/** empty where there is none, or none that can be read */
		read: () => quietly(() => readTextIfThere(path)) ?? "",
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
