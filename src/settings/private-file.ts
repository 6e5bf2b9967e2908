import { CliError, errorCode, Exit, reason, usageError } from "../errors.ts";
import { openInput, readBytes } from "../input-file.ts";
import { currentUserId } from "../user-id.ts";

/** 64 KiB: many times the size of a key or of a list of profiles. Reading `/dev/zero` still ends. */
const MAX_BYTES = 64 * 1024;

const ROOT = 0;
const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_ALL = 0o004;

/**
 * Reads a file whose content decides where a key goes.
 *
 * A file that other users can write is refused, and so is a file of another user than root: they could choose the key or the
 * address. Links and files that a group can read are accepted, because secrets are mounted in this way.
 *
 * @param what the file and where its path came from, for messages: `the API key file of --api-key-file`
 * @param uid user id of this process; undefined asks the system
 */
export async function readPrivateFile(path: string, what: string, uid?: number) {
	try {
		await using file = await openInput(path);
		// The open file is checked, and not its path, so that it can't be replaced between check and reading.
		const { mode, uid: owner } = file.stat;
		const self = uid ?? currentUserId();
		// -1: a system without owners and modes.
		if (self !== -1) {
			if ((mode & WRITABLE_BY_OTHERS) !== 0) {
				throw usageError(`${what}, ${path}, can be written by others`, `Run: chmod go-w '${path}'`);
			}
			if (owner !== self && owner !== ROOT) {
				throw usageError(`${what}, ${path}, belongs to another user`, "Use a file of your own.");
			}
		}
		const text = (await readBytes(file.bytes(), MAX_BYTES)).toString("utf8");
		return { text, readableByAll: self !== -1 && (mode & READABLE_BY_ALL) !== 0 };
	} catch (error) {
		if (error instanceof CliError) throw error;
		if (errorCode(error) === "EFBIG")
			throw usageError(`${what}, ${path}, is longer than 64 KiB`, "Is it the right file?");
		// The key itself may be given here by mistake. A name without a file is repeated only if it is a path.
		const isPath = path.includes("/") || errorCode(error) !== "ENOENT";
		const hint = isPath ? undefined : "Give the path of a file, never the key itself.";
		throw new CliError(`cannot read ${what}${isPath ? `, ${path}` : ""}: ${reason(error)}`, {
			exit: Exit.usage,
			...(hint === undefined ? {} : { hint }),
			cause: error,
		});
	}
}
