import * as v from "valibot";
import { isJsonObject, type JsonObject, type Metadata } from "../../json/values.ts";
import { noOutcomes, OUTCOMES, type RowStatus } from "../../outcomes.ts";
import type { Totals } from "../types.ts";

/** The format of the journal. Another format is refused, as this version would not know every record of it. */
export const FORMAT = 2;

/** An exact whole number, 0 or more. */
const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const TEXT = v.string();
const TEXTS = v.pipe(v.array(TEXT), v.readonly());
const VALUES = v.custom<JsonObject>(isJsonObject);

const MANIFEST = v.object({
	name: TEXT,
	/** null where it came from standard input */
	path: v.nullable(TEXT),
	sha256: TEXT,
	bytes: COUNT,
	rows: COUNT,
	invalid: COUNT,
	duplicateSkipped: COUNT,
	/** for a shard: rows of other shards, which the other counts leave out; absent for a whole manifest */
	otherRows: v.optional(COUNT),
});

const COUNTS = v.object(
	v.entriesFromList(["rows", ...OUTCOMES, "invalid", "duplicateSkipped", "pending", "attempts"], COUNT),
);

/** The totals of a run without rows. */
export const NO_TOTALS: Totals = {
	rows: 0,
	...noOutcomes(),
	invalid: 0,
	duplicateSkipped: 0,
	pending: 0,
	attempts: 0,
};

/** The members of each kind of record in the JSON text of its line. Times are ISO, unless they are numbers. */
export const MEMBERS = {
	header: v.object({
		version: v.literal(FORMAT),
		run: TEXT,
		/** version of the program */
		tool: TEXT,
		/** `docs tag` */
		command: TEXT,
		manifest: MANIFEST,
		target: v.object({ baseUrl: TEXT }),
		/** SHA-256 of the options that change what is sent */
		options: TEXT,
		/** number of the execution in the order of all executions, whatever the clock said */
		order: v.optional(COUNT),
		/** how long earlier executions took together; absent in the first */
		earlierMilliseconds: v.optional(COUNT),
		time: TEXT,
	}),
	end: v.object({ counts: COUNTS, exitCode: COUNT, time: TEXT }),
	reopen: v.object({ time: TEXT, codes: v.optional(TEXTS) }),
	lost: v.object({ records: COUNT, time: TEXT }),
	sent: v.object({
		/** when it was about to be sent, in epoch milliseconds */
		time: COUNT,
		metadata: v.optional(VALUES),
		before: v.optional(VALUES),
		/** `upload` and `rename`: the name that is sent. `upload`: the file's bytes, and the ids of the documents that had the name before */
		fileName: v.optional(TEXT),
		size: v.optional(COUNT),
		namesakes: v.optional(TEXTS),
		/** `rename`: the name that the document had */
		oldName: v.optional(TEXT),
	}),
	stored: v.object({ storedName: TEXT }),
	outcome: v.object({
		/** the name under which an upload was stored */
		storedName: v.optional(TEXT),
		error: v.optional(v.object({ code: TEXT, text: TEXT })),
	}),
};

type MembersOf<Kind extends keyof typeof MEMBERS> = Readonly<v.InferOutput<(typeof MEMBERS)[Kind]>>;

/** The identity of a manifest, and the counts of its check. */
export type RecordedManifest = Readonly<v.InferOutput<typeof MANIFEST>>;

/** Rows that the manifest has, those of other shards included. A row's position is below it. */
export function allRowsOf({ rows, otherRows = 0 }: Pick<RecordedManifest, "rows" | "otherRows">): number {
	return rows + otherRows;
}

/** The first record of an execution, which is one process that works on the run. Later executions repeat the same hashes. */
export type HeaderRecord = MembersOf<"header"> & { readonly kind: "header" };

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
export type OutcomeRecord = RowOutcome &
	Omit<MembersOf<"outcome">, "error"> & {
		readonly kind: "outcome";
		/** `unchanged`: the document's dataset, which no record of a write has */
		readonly datasetId?: string | undefined;
		/** empty where there is none */
		readonly documentId: string;
	};

/** The last record of an execution. An execution that was killed has none. */
export type EndRecord = Omit<MembersOf<"end">, "counts"> & { readonly kind: "end"; readonly counts: Totals };

/** Makes failed rows pending again: all of them, or those that failed with one of the codes. */
export type ReopenRecord = MembersOf<"reopen"> & { readonly kind: "reopen" };

/** The number of records that a repair could not keep. Without it, a repaired journal would look complete. */
export type LostRecord = MembersOf<"lost"> & { readonly kind: "lost" };

/** A write of a row that is about to be sent. It is durable before the first byte is sent: a row without it was never sent. */
export type SentRecord = Omit<MembersOf<"sent">, "metadata" | "before"> & {
	readonly kind: "sent";
	readonly row: number;
	readonly line: number;
	readonly datasetId: string;
	/** `upload`: the document that is replaced; empty where none is */
	readonly documentId: string;
	readonly write: "update" | "upload" | "remove" | "rename";
	/** metadata as it is sent. Keys that look like whole numbers come first when it is read, as JSON objects order them so. */
	readonly metadata?: Metadata | undefined;
	/** `update`: the before-image, which is the metadata that the document had; absent where it is not known */
	readonly before?: Metadata | undefined;
	/** number of the execution that wrote the record: the reader adds it, no line has it */
	readonly order?: number;
	/** the JSON text of `before`, in one line: it is written as it is. Never read */
	readonly beforeText?: string | undefined;
};

/** The file of an upload was stored; its metadata is not written yet. */
export type StoredRecord = MembersOf<"stored"> & {
	readonly kind: "stored";
	readonly row: number;
	readonly line: number;
	readonly datasetId: string;
	readonly documentId: string;
};

/** A record of the journal. */
export type JournalRecord =
	| HeaderRecord
	| OutcomeRecord
	| EndRecord
	| ReopenRecord
	| LostRecord
	| SentRecord
	| StoredRecord;

/** The members that must be equal for a run to be resumed. */
type RunIdentity = Pick<HeaderRecord, "command" | "manifest" | "target" | "options">;

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
