import { errorCode, reason } from "../../errors.ts";
import { FORMAT } from "./records.ts";

/** Why a journal can't be used any more. */
export type LossKind =
	/** no space left, or a limit of the size */
	| "full"
	/** the storage failed */
	| "io"
	/** another program changed or removed the file */
	| "fenced";

/** Codes of a storage that takes no more, though nothing is broken. */
const FULL: readonly (string | undefined)[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** A journal can't be used any more: nothing may be sent, as its outcome could not be kept. Exit 7. */
export class JournalLost extends Error {
	override readonly name = "JournalLost";
	readonly kind: LossKind;

	constructor(message: string, kind: LossKind, cause?: unknown) {
		super(message, cause === undefined ? {} : { cause });
		this.kind = kind;
	}
}

/** The loss that an error of the storage means for a file. */
export function journalLost(error: unknown, file: string, use: "written" | "read" = "written"): JournalLost {
	if (error instanceof JournalLost) return error;
	const why = reason(error);
	if (FULL.includes(errorCode(error))) return new JournalLost(`no space left for ${file}: ${why}`, "full", error);
	return new JournalLost(`${file} can't be ${use}: ${why}`, "io", error);
}

/** Where a file is damaged. */
export type DamagedPlace = { readonly file: string; readonly byte: number; readonly record: number };

/** A run on disk that can't be read: damaged in its middle (exit 7), or of a newer format (exit 8). */
export class JournalUnreadable extends Error {
	override readonly name = "JournalUnreadable";
	readonly kind: "corrupt" | "foreign";
	/** present where a place in a file can be named */
	readonly place: DamagedPlace | undefined;

	constructor(message: string, kind: "corrupt" | "foreign", place?: DamagedPlace) {
		super(message);
		this.kind = kind;
		this.place = place;
	}
}

/** The fault of a file that a newer version wrote. */
export function newerFormat(version: number, file: string): JournalUnreadable {
	const text = `${file} was written by a newer version: its format is ${version}, and this version reads ${FORMAT}`;
	return new JournalUnreadable(text, "foreign");
}
