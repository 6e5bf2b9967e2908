import { CliError, Exit } from "../../errors.ts";
import { storageReason } from "../storage/folders.ts";
import { JournalLost, JournalUnreadable } from "../journal/errors.ts";

/** What a fault of the journal means for a person. */
export function explained(error: unknown): unknown {
	if (error instanceof JournalLost) {
		const hint = "Make room or mend the storage, then resume: rows whose outcome could not be kept are pending.";
		return new CliError(error.message, { exit: Exit.storage, hint, cause: error });
	}
	if (error instanceof JournalUnreadable) {
		const exit = error.kind === "corrupt" ? Exit.storage : Exit.foreign;
		const hint =
			error.kind === "corrupt"
				? "ragtag runs repair keeps every good record; nothing was sent."
				: "Use the version that wrote it; nothing was sent.";
		return new CliError(error.message, { exit, hint, cause: error });
	}
	return error;
}

/** Why the records of runs can't be kept; what has words of its own as it is. */
export function notKept(path: string, error: unknown): unknown {
	if (error instanceof CliError || error instanceof JournalLost || error instanceof JournalUnreadable) return error;
	return new CliError(`runs can't be recorded in ${path}: ${storageReason(error, path)}; nothing was sent`, {
		exit: Exit.storage,
		hint: "Make it writable or make room there, or name another folder with --state-dir DIR; ragtag doctor checks it.",
		cause: error,
	});
}

/** A run that is to be gone on with is not what is wanted now. Nothing was sent. */
export class ForeignRun extends Error {
	override readonly name = "ForeignRun";
	readonly run: string;
	readonly difference: string;

	constructor(run: string, difference: string) {
		super(`run ${run} can't be gone on with: ${difference}`);
		this.run = run;
		this.difference = difference;
	}
}
