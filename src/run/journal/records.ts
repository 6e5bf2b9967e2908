import type { Metadata } from "../../json/values.ts";
import type { RowStatus, Totals } from "../types.ts";

/** The format of the files. A reader refuses a newer one, as it would not know every record of it. */
export const FORMAT = 1;

/** The identity of a manifest, and the counts of its check. */
export type RecordedManifest = {
	readonly name: string;
	/** null where it came from standard input */
	readonly path: string | null;
	readonly sha256: string;
	readonly bytes: number;
	readonly rows: number;
	readonly invalid: number;
	readonly duplicateSkipped: number;
	/** for a shard: rows of other shards, which the other counts leave out; absent for a whole manifest */
	readonly otherRows?: number;
};

/** Rows that the manifest has, those of other shards included. A row's position is below it. */
export function allRowsOf({ rows, otherRows = 0 }: Pick<RecordedManifest, "rows" | "otherRows">): number {
	return rows + otherRows;
}

/** The first record of an execution, which is one process that works on the run. Later executions repeat the same hashes. */
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
	/** number of the execution in the order of all executions, whatever the clock said; absent in earlier records */
	readonly order?: number;
	/** how long earlier executions took together; absent in the first */
	readonly earlierMilliseconds?: number;
	/** ISO time */
	readonly time: string;
};

/** The header of a newer format. It is only read, never written. */
export type NewerRecord = { readonly kind: "newer"; readonly version: number };

/** How a row ended, as far as the counts of a run depend on it. */
export type RowOutcome = {
	/** position in the manifest, from 0 */
	readonly row: number;
	/** line in the manifest, from 1 */
	readonly line: number;
	readonly attempts: number;
	/** `updated`, and the document already had the metadata */
	readonly isSame?: true | undefined;
} & (
	| { readonly status: Exclude<RowStatus, "failed"> }
	| {
			readonly status: "failed";
			readonly error: { readonly code: string; readonly text: string };
			/** certainly nothing of the row was applied */
			readonly isUntouched?: true | undefined;
	  }
);

/** How a row ended, and which document it was. */
export type OutcomeRecord = RowOutcome & {
	readonly kind: "outcome";
	/** `unchanged`: the document's dataset, which no record of a write has */
	readonly datasetId?: string | undefined;
	/** empty where there is none */
	readonly documentId: string;
	/** the name under which an upload was stored */
	readonly storedName?: string | undefined;
};

/** The last record of an execution. An execution that was killed has none. */
export type EndRecord = {
	readonly kind: "end";
	readonly counts: Totals;
	readonly exitCode: number;
	/** ISO time */
	readonly time: string;
};

/** Makes failed rows pending again: all of them, or those that failed with one of the codes. */
export type ReopenRecord = { readonly kind: "reopen"; readonly time: string; readonly codes?: readonly string[] };

/** The number of records that a repair could not keep. Without it, a repaired file would look complete. */
export type LostRecord = { readonly kind: "lost"; readonly records: number; readonly time: string };

/** A write of a row that is about to be sent. It is durable before the first byte is sent: a row without it was never sent. */
export type SentRecord = {
	readonly kind: "sent";
	readonly row: number;
	/** line in the manifest, from 1; earlier releases wrote none */
	readonly line?: number;
	readonly datasetId: string;
	/** empty for an upload */
	readonly documentId: string;
	readonly write: "update" | "upload" | "remove";
	/** metadata as it is sent. Keys that look like whole numbers come first when it is read, as JSON objects order them so. */
	readonly metadata?: Metadata;
	/** `update`: the before-image, which is the metadata that the document had; absent where it is not known */
	readonly before?: Metadata | undefined;
	/** the JSON text of `before`, in one line: it is written as it is. Never read */
	readonly beforeText?: string | undefined;
	/** when it was about to be sent, in epoch milliseconds; earlier releases wrote none */
	readonly time?: number;
	/** number of the execution that wrote the record: the reader adds it, no line has it */
	readonly order?: number;
	/** `upload`: the name under which the file is sent */
	readonly fileName?: string;
	/** `upload`: bytes of the file */
	readonly size?: number;
	/** `upload`: ids of the documents that had the name before */
	readonly namesakes?: readonly string[];
};

/** The file of an upload was stored; its metadata is not written yet. */
export type StoredRecord = {
	readonly kind: "stored";
	readonly row: number;
	readonly documentId: string;
	readonly storedName: string;
};

/** A later execution of the run begins: the records of writes that follow are its own. */
export type ExecutionRecord = { readonly kind: "execution"; readonly order: number };

/** A record that this version writes. */
export type JournalRecord =
	| HeaderRecord
	| OutcomeRecord
	| EndRecord
	| ReopenRecord
	| LostRecord
	| SentRecord
	| StoredRecord
	| ExecutionRecord;

/** A record that this version reads. */
export type ReadRecord = JournalRecord | NewerRecord;

/** The members that must be equal for a run to be resumed. */
export type RunIdentity = Pick<HeaderRecord, "command" | "manifest" | "target" | "options">;

/** Hexadecimal digits of a hash in a message, enough to compare by eye. */
const SHOWN_DIGITS = 12;

/** The first difference between a recorded run and the one that is wanted, as a sentence; undefined where there is none. */
export function compareHeader(recorded: RunIdentity, wanted: RunIdentity): string | undefined {
	if (recorded.command !== wanted.command) {
		return `the recorded run is one of ${recorded.command}, not of ${wanted.command}`;
	}
	const { manifest: then, target } = recorded;
	const { manifest: now } = wanted;
	if (then.sha256 !== now.sha256 || then.bytes !== now.bytes) {
		const before = `${then.bytes} bytes, SHA-256 ${then.sha256.slice(0, SHOWN_DIGITS)}…`;
		const after = `${now.bytes} bytes, ${now.sha256.slice(0, SHOWN_DIGITS)}…`;
		return `the manifest differs from the one that ${then.name} was when the run began: ${before} then, ${after} now`;
	}
	if (target.baseUrl !== wanted.target.baseUrl) {
		return `the target differs: the recorded run writes to ${target.baseUrl}, not to ${wanted.target.baseUrl}`;
	}
	if (recorded.options !== wanted.options) return "the options that change what is sent differ from the recorded run's";
	const isSame =
		then.rows === now.rows &&
		then.invalid === now.invalid &&
		then.duplicateSkipped === now.duplicateSkipped &&
		allRowsOf(then) === allRowsOf(now);
	return isSame
		? undefined
		: `the check of the manifest counts otherwise than when the run began: ${tally(then)} then, ${tally(now)} now`;
}

function tally({ rows, invalid, duplicateSkipped }: HeaderRecord["manifest"]): string {
	return `${rows} rows with ${invalid} invalid and ${duplicateSkipped} duplicates skipped`;
}
