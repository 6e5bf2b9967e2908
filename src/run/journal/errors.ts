import { basename, dirname } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { FORMAT } from "./records.ts";

/** Error codes of a storage that is full but works. */
const FULL: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** A journal can't be written any more. Nothing may be sent, as no outcome could be recorded. Exit 7. */
export class JournalLost extends CliError {
	/** @param cure the user's first step */
	constructor(message: string, cure = "Make room or repair the storage", cause?: unknown) {
		const hint = `${cure}, then resume: rows whose outcome could not be recorded are pending.`;
		super(message, { exit: Exit.storage, hint, cause });
	}
}

/** The `JournalLost` for an error of the storage. */
export function journalLost(error: unknown, file: string, use: "written" | "read" = "written"): JournalLost {
	if (error instanceof JournalLost) return error;
	const what = FULL.includes(errorCode(error)) ? `no space left for ${file}` : `${file} can't be ${use}`;
	return new JournalLost(`${what}: ${reason(error)}`, undefined, error);
}

/** The record of a run can't be read: it is damaged in its middle (exit 7), or of another format (exit 8). */
export class JournalUnreadable extends CliError {}

/** The error for a damaged journal. @param file the journal of the run to repair, which need not be the newest one */
export function damagedJournal(message: string, file?: string): JournalUnreadable {
	const run = file === undefined ? "" : ` ${basename(dirname(file))}`;
	const hint = `ragtag runs repair${run} keeps every good record; nothing was sent.`;
	return new JournalUnreadable(message, { exit: Exit.storage, hint });
}

/** The error for a journal of another format than this version reads. */
export function otherFormat(version: number, file: string): JournalUnreadable {
	const who = version > FORMAT ? "a newer" : "an older";
	return foreign(`${file} was written by ${who} version: its format is ${version}, and this version reads ${FORMAT}`);
}

/** The error for a journal of the first format, which 0.1.0 wrote. */
export function olderFormat(file: string): JournalUnreadable {
	return foreign(`${file} was written by ragtag 0.1.0 in an older format: that version can resume or undo the run`);
}

function foreign(message: string): JournalUnreadable {
	const hint = "Use the version of ragtag that wrote it; nothing was sent.";
	return new JournalUnreadable(message, { exit: Exit.foreign, hint });
}
