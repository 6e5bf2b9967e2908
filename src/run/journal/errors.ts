import { basename, dirname } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import { FORMAT } from "./records.ts";

/** The reason why a journal can't be written any more. */
type LossKind =
	/** no space is left, or a limit of the file size is reached */
	| "full"
	/** the storage failed */
	| "io"
	/** another program changed or removed the file */
	| "fenced";

/** Error codes of a storage that is full but works. */
const FULL: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** A journal can't be written any more. Nothing may be sent, as no outcome could be recorded. Exit 7. */
export class JournalLost extends CliError {
	readonly kind: LossKind;

	constructor(message: string, kind: LossKind, cause?: unknown) {
		const cure = kind === "fenced" ? "Undo what that program did there" : "Make room or repair the storage";
		const hint = `${cure}, then resume: rows whose outcome could not be recorded are pending.`;
		super(message, { exit: Exit.storage, hint, cause });
		this.kind = kind;
	}
}

/** The `JournalLost` for an error of the storage. */
export function journalLost(error: unknown, file: string, use: "written" | "read" = "written"): JournalLost {
	if (error instanceof JournalLost) return error;
	const why = reason(error);
	if (FULL.includes(errorCode(error))) return new JournalLost(`no space left for ${file}: ${why}`, "full", error);
	return new JournalLost(`${file} can't be ${use}: ${why}`, "io", error);
}

/** The record of a run can't be read: it is damaged in its middle (exit 7), or of another format (exit 8). */
export class JournalUnreadable extends CliError {
	readonly kind: "corrupt" | "foreign";

	/** @param file of the run, where it has a damaged record */
	constructor(message: string, kind: "corrupt" | "foreign", file?: string) {
		// The damaged run need not be the newest one.
		const run = file === undefined ? "" : ` ${basename(dirname(file))}`;
		if (kind === "corrupt") {
			super(message, {
				exit: Exit.storage,
				hint: `ragtag runs repair${run} keeps every good record; nothing was sent.`,
			});
		} else super(message, { exit: Exit.foreign, hint: "Use the version of ragtag that wrote it; nothing was sent." });
		this.kind = kind;
	}
}

/** The error for a journal of another format than this version reads. */
export function otherFormat(version: number, file: string): JournalUnreadable {
	const who = version > FORMAT ? "a newer" : "an older";
	const text = `${file} was written by ${who} version: its format is ${version}, and this version reads ${FORMAT}`;
	return new JournalUnreadable(text, "foreign");
}

/** The error for a journal of the first format. @param tool the version that wrote it */
export function olderFormat(file: string, tool: string): JournalUnreadable {
	const text = `${file} was written by ragtag ${tool} in an older format: that version can resume or undo the run`;
	return new JournalUnreadable(text, "foreign");
}
