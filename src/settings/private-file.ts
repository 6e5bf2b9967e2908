import { userInfo } from "node:os";
import { CliError, errorCode, Exit, reason } from "../errors.ts";
import { type InputFile, openInput, readWhole } from "../input-file.ts";

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
	let file: InputFile | undefined;
	try {
		file = await openInput(path);
		// The open file is asked, not the path: it can't be exchanged between the check and the reading.
		const { mode, uid: owner } = file.stat;
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
		const text = (await readWhole(file, MOST_BYTES)).toString("utf8");
		return { text, readableByAll: self !== -1 && (mode & READABLE_BY_ALL) !== 0 };
	} catch (error) {
		if (error instanceof CliError) throw error;
		if (errorCode(error) === "EFBIG") throw refused(`${what}, ${path}, is longer than 64 KiB`, "Is it the right file?");
		// The key itself is given here by mistake: a name that no file has is repeated only where it is a path.
		const isPath = path.includes("/") || errorCode(error) !== "ENOENT";
		const hint = isPath ? undefined : "It is the path of a file, and never the key itself.";
		throw new CliError(`cannot read ${what}${isPath ? `, ${path}` : ""}: ${reason(error)}`, {
			exit: Exit.usage,
			...(hint === undefined ? {} : { hint }),
			cause: error,
		});
	} finally {
		await file?.close();
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
