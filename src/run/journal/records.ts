import type { Metadata } from "../../json/values.ts";
import type { RowStatus, Totals } from "../types.ts";

/** The format that is written. A reader refuses a newer one: it can't know what it would miss. */
export const FORMAT = 1;

/** What tells one manifest from another, and what its check counted. */
export type RecordedManifest = {
	readonly name: string;
	/** null where it came from standard input */
	readonly path: string | null;
	readonly sha256: string;
	readonly bytes: number;
	readonly rows: number;
	readonly invalid: number;
	readonly duplicateSkipped: number;
};

/** Begins a sitting: a process that works on the run. Each later one repeats it with the same hashes. */
export type HeaderRecord = {
	readonly kind: "header";
	readonly version: typeof FORMAT;
	readonly run: string;
	/** version of the program */
	readonly tool: string;
	/** `docs tag` */
	readonly command: string;
	readonly manifest: RecordedManifest;
	readonly target: { readonly baseUrl: string };
	/** SHA-256 of the options that change what is sent */
	readonly options: string;
	/** how long the sittings before took, in milliseconds; absent in the first */
	readonly before?: number;
	/** ISO time */
	readonly time: string;
};

/** A header of a format that this program does not know. It is only read, never written. */
export type NewerRecord = { readonly kind: "newer"; readonly version: number };

/** How a row ended. */
export type OutcomeRecord = {
	readonly kind: "outcome";
	/** position in the manifest, from 0 */
	readonly row: number;
	/** line in the manifest, from 1 */
	readonly line: number;
	readonly attempts: number;
	/** empty where there is none */
	readonly documentId: string;
	/** the name under which an upload was stored */
	readonly storedName?: string;
	/** `updated`, and the document had it already */
	readonly isSame?: true;
} & (
	| { readonly status: Exclude<RowStatus, "failed"> }
	| {
			readonly status: "failed";
			readonly error: { readonly code: string; readonly text: string };
			/** certainly nothing of the row was applied */
			readonly isUntouched?: true;
	  }
);

/** Counts of a run as its summary shows them. */
export type Counts = Totals;

/** Ends a sitting. One that was killed has none. */
export type EndRecord = {
	readonly kind: "end";
	readonly counts: Counts;
	readonly exitCode: number;
	/** ISO time */
	readonly time: string;
};

/** Failed rows are open again: all of them, or those that failed with one of the codes. */
export type ReopenRecord = { readonly kind: "reopen"; readonly time: string; readonly codes?: readonly string[] };

/** What a repair could not keep. Without it a repaired file would claim to be complete. */
export type LostRecord = { readonly kind: "lost"; readonly records: number; readonly time: string };

/** A row's first write is about to go out: durable before its first byte, so that rows without it were never sent. */
export type SentRecord = {
	readonly kind: "sent";
	readonly row: number;
	/** line in the manifest, from 1; earlier releases wrote none */
	readonly line?: number;
	readonly datasetId: string;
	/** empty for an upload */
	readonly documentId: string;
	readonly write: "update" | "upload" | "remove";
	/** metadata as it is sent. Keys that look like whole numbers are read back first, whatever their place was. */
	readonly metadata?: Metadata;
	/** `update`: what the document had before; absent where that is not known */
	readonly before?: Metadata;
	/** when it was about to be sent, in epoch milliseconds; earlier releases wrote none */
	readonly time?: number;
	/** `upload`: the name under which the file is sent */
	readonly fileName?: string;
	/** `upload`: bytes of the file */
	readonly size?: number;
	/** `upload`: ids of the documents that had the name before */
	readonly namesakes?: readonly string[];
};

/** An upload was stored; its metadata is still owed. */
export type StoredRecord = {
	readonly kind: "stored";
	readonly row: number;
	readonly documentId: string;
	readonly storedName: string;
};

/** What can be written. */
export type JournalRecord =
	| HeaderRecord
	| OutcomeRecord
	| EndRecord
	| ReopenRecord
	| LostRecord
	| SentRecord
	| StoredRecord;

/** What can be read. */
export type ReadRecord = JournalRecord | NewerRecord;
/** What must be the same for a run to be gone on with. */
export type RunIdentity = Pick<HeaderRecord, "command" | "manifest" | "target" | "options">;
/** Hexadecimal digits of a hash that a person compares. */
const SHOWN = 12;
/** One sentence naming what differs between a recorded run and the one that is wanted; undefined where nothing does. */
export function compareHeader(recorded: RunIdentity, wanted: RunIdentity): string | undefined {
	if (recorded.command !== wanted.command) {
		return `the recorded run is one of ${recorded.command}, not of ${wanted.command}`;
	}
	const { manifest: then, target } = recorded;
	const { manifest: now } = wanted;
	if (then.sha256 !== now.sha256 || then.bytes !== now.bytes) {
		const before = `${then.bytes} bytes, SHA-256 ${then.sha256.slice(0, SHOWN)}…`;
		const after = `${now.bytes} bytes, ${now.sha256.slice(0, SHOWN)}…`;
		return `the manifest differs from the one that ${then.name} was when the run began: ${before} then, ${after} now`;
	}
	if (target.baseUrl !== wanted.target.baseUrl) {
		return `the target differs: the recorded run writes to ${target.baseUrl}, not to ${wanted.target.baseUrl}`;
	}
	if (recorded.options !== wanted.options) return "the options that change what is sent differ from the recorded run's";
	const same = then.rows === now.rows && then.invalid === now.invalid && then.duplicateSkipped === now.duplicateSkipped;
	return same
		? undefined
		: `the manifest is judged otherwise than when the run began: ${tally(then)} then, ${tally(now)} now`;
}

function tally({ rows, invalid, duplicateSkipped }: HeaderRecord["manifest"]): string {
	return `${rows} rows with ${invalid} invalid and ${duplicateSkipped} duplicates skipped`;
}
