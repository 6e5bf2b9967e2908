import { fstatSync, lstatSync, type Stats, writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { JournalFile } from "./writer.ts";

/** An open file of a run, for its writer. @param path where it was opened */
export function journalFile(handle: FileHandle, path: string): JournalFile {
	// Some stacked file systems number an open file in another way than its path. There the two can't be compared.
	const isComparable = isAt(fstatSync(handle.fd), path);
	return {
		// They take a few microseconds of the system's memory. A thread for each would take ten times as long.
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

/** Whether a path leads to an open file. */
function isAt({ ino, dev }: Stats, path: string): boolean {
	const named = lstatSync(path, { throwIfNoEntry: false });
	return ino === named?.ino && dev === named.dev;
}
