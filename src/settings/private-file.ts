import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { userInfo } from "node:os";
import { CliError, Exit, reason } from "../errors.ts";

/** 64 KiB: many times any key or list of profiles, and `/dev/zero` still ends. */
const MOST_BYTES = 64 * 1024;

const ROOT = 0;
const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_ALL = 0o004;

export type PrivateFile = { readonly text: string; readonly readableByAll: boolean };

/**
 * Read a file whose content decides where a key goes.
 *
 * Refused when others can write it, or when a stranger other than root owns it: whoever can write it can choose the
 * key or the address. Links are followed and group-readable files taken, because that is how secrets are mounted.
 *
 * @param what what the file is and who named it, for messages: `the API key file of --api-key-file`
 * @param uid user id of this process
 */
export async function readPrivateFile(path: string, what: string, uid?: number): Promise<PrivateFile> {
	let file: FileHandle | undefined;
	try {
		file = await open(path, constants.O_RDONLY);
		// The open file is asked, not the path: it can't be exchanged between the check and the reading.
		const { mode, uid: owner } = await file.stat();
		const self = uid ?? ownId();
		// -1 is a system without owners and modes.
		if (self !== -1) {
			if ((mode & WRITABLE_BY_OTHERS) !== 0) {
				throw refused(`${what}, ${path}, can be written by others`, `Run: chmod go-w '${path}'`);
			}
			if (owner !== self && owner !== ROOT) {
				throw refused(`${what}, ${path}, belongs to another user`, "Use a file of your own.");
			}
		}
		return { text: await readStart(file, what, path), readableByAll: self !== -1 && (mode & READABLE_BY_ALL) !== 0 };
	} catch (error) {
		if (error instanceof CliError) throw error;
		throw new CliError(`cannot read ${what}, ${path}: ${reason(error)}`, { exit: Exit.usage, cause: error });
	} finally {
		await file?.close();
	}
}

async function readStart(file: FileHandle, what: string, path: string): Promise<string> {
	const chunks: Buffer[] = [];
	let size = 0;
	// Read piece by piece, and not by size: `<(command)` is a pipe and has none.
	for (;;) {
		const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(MOST_BYTES + 1), position: null });
		if (bytesRead === 0) return Buffer.concat(chunks).toString("utf8");
		chunks.push(buffer.subarray(0, bytesRead));
		size += bytesRead;
		if (size > MOST_BYTES) throw refused(`${what}, ${path}, is longer than 64 KiB`, "Is it the right file?");
	}
}

function refused(message: string, hint: string): CliError {
	return new CliError(message, { exit: Exit.usage, hint });
}

/** The user id of this process. A user id that no list of users knows is nobody's: only root's files are then taken. */
function ownId(): number {
	try {
		return userInfo().uid;
	} catch {
		return Number.NaN;
	}
}
