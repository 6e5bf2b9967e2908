import { basename, dirname } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { JournalLost, JournalUnreadable } from "../journal/errors.ts";
import { storageReason } from "../storage/folders.ts";

/** An error of the journal as the user sees it, with an exit code and a hint. Every other error is returned as it is. */
export function journalCliError(error: unknown): unknown {
	if (error instanceof JournalLost) {
		const cure = error.kind === "fenced" ? "Undo what that program did there" : "Make room or repair the storage";
		const hint = `${cure}, then resume: rows whose outcome could not be recorded are pending.`;
		return new CliError(error.message, { exit: Exit.storage, hint, cause: error });
	}
	if (error instanceof JournalUnreadable) {
		const exit = error.kind === "corrupt" ? Exit.storage : Exit.foreign;
		// The damaged run need not be the newest one.
		const run = error.place === undefined ? "" : ` ${basename(dirname(error.place.file))}`;
		const hint =
			error.kind === "corrupt"
				? `ragtag runs repair${run} keeps every good record; nothing was sent.`
				: "Use the version of ragtag that wrote it; nothing was sent.";
		return new CliError(error.message, { exit, hint, cause: error });
	}
	return error;
}

/** The error of a storage that can't record runs. An error with a message of its own is returned as it is. */
export function cannotRecord(path: string, error: unknown): unknown {
	if (error instanceof CliError || error instanceof JournalLost || error instanceof JournalUnreadable) return error;
	return new CliError(`runs can't be recorded in ${path}: ${storageReason(error, path)}; nothing was sent`, {
		exit: Exit.storage,
		hint: "Make it writable or free some space there, or name another folder with --state-dir DIR; ragtag doctor checks it.",
		cause: error,
	});
}
