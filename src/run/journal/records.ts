import * as v from "valibot";
import { isJsonObject, type JsonObject, metadataOf } from "../../json/values.ts";
import { OUTCOMES, SUCCESSES } from "../../outcomes.ts";

/** The format of the journal. Another format is refused, as this version would not know every record of it. */
export const FORMAT = 2;

/** An exact whole number, 0 or more. */
const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const TEXT = v.string();
export const TEXTS = v.pipe(v.array(TEXT), v.readonly());
/** Metadata as an object of JSON text. */
export const METADATA = v.pipe(v.custom<JsonObject>(isJsonObject), v.transform(metadataOf));
const YES = v.optional(v.literal(true));

const MANIFEST = v.pipe(
	v.object({
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
	}),
	// More omitted rows than rows would make a count negative.
	v.check(({ rows, invalid, duplicateSkipped }) => invalid + duplicateSkipped <= rows),
);

/** The counts that the end of an execution must have, the sums last. */
export const COUNTED = ["rows", ...OUTCOMES, "invalid", "duplicateSkipped", "pending", "attempts"] as const;
const COUNTS = v.object(v.entriesFromList(COUNTED, COUNT));

/** The first record of an execution, which is one process that works on the run. Later executions repeat the same hashes. */
const HEADER = v.object({
	kind: v.literal("header"),
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
});

/** The last record of an execution. An execution that was killed has none. */
const END = v.object({ kind: v.literal("end"), counts: COUNTS, exitCode: COUNT, time: TEXT });

/** Makes failed rows pending again: all of them, or those that failed with one of the codes. */
const REOPEN = v.object({ kind: v.literal("reopen"), time: TEXT, codes: v.optional(TEXTS) });

/** The number of records that a repair could not keep. Without it, a repaired journal would look complete. */
const LOST = v.object({ kind: v.literal("lost"), records: COUNT, time: TEXT });

const OF_ROW = {
	/** position in the manifest, from 0 */
	row: COUNT,
	/** line in the manifest, from 1 */
	line: COUNT,
	/** empty in the outcomes of rows that have a record of a write, which names it */
	datasetId: TEXT,
	/** empty where there is none. An `upload` is sent with that of the document which it replaces */
	documentId: TEXT,
};

/** A write of a row that is about to be sent. It is durable before the first byte is sent: a row without it was never sent. */
const SENT = v.object({
	kind: v.literal("sent"),
	...OF_ROW,
	write: v.picklist(["update", "upload", "remove", "rename"]),
	/** when it was about to be sent, in epoch milliseconds */
	time: COUNT,
	/** metadata as it is sent. Keys that look like whole numbers come first when it is read, as JSON objects order them so. */
	metadata: v.optional(METADATA),
	/** `update`: the before-image, which is the metadata that the document had; absent where it is not known */
	before: v.optional(METADATA),
	/** `upload` and `rename`: the name that is sent. `upload`: the file's bytes, and the ids of the documents that had the name before */
	fileName: v.optional(TEXT),
	size: v.optional(COUNT),
	namesakes: v.optional(TEXTS),
	/** `rename`: the name that the document had */
	oldName: v.optional(TEXT),
});

/** The file of an upload was stored; its metadata is not written yet. */
const STORED = v.object({ kind: v.literal("stored"), ...OF_ROW, storedName: TEXT });

const OUTCOME = {
	kind: v.literal("outcome"),
	...OF_ROW,
	attempts: COUNT,
	/** the name under which an upload was stored */
	storedName: v.optional(TEXT),
};

const SUCCESS = v.object({
	...OUTCOME,
	status: v.picklist(SUCCESSES),
	/** `updated`, and the document already had the metadata */
	isSame: YES,
	error: v.optional(v.undefined()),
});

const FAILURE = v.object({
	...OUTCOME,
	status: v.literal("failed"),
	error: v.object({ code: TEXT, text: TEXT }),
	/** certainly nothing of the row was applied */
	isUntouched: YES,
});

/** Every record of a journal. Times are ISO, unless they are numbers. */
export const RECORD = v.variant("kind", [
	HEADER,
	END,
	REOPEN,
	LOST,
	SENT,
	STORED,
	v.variant("status", [SUCCESS, FAILURE]),
]);

/** The identity of a manifest, and the counts of its check. */
export type RecordedManifest = Readonly<v.InferOutput<typeof MANIFEST>>;

/** Rows that the manifest has, those of other shards included. A row's position is below it. */
export function allRowsOf({ rows, otherRows = 0 }: Pick<RecordedManifest, "rows" | "otherRows">): number {
	return rows + otherRows;
}

export type HeaderRecord = Readonly<v.InferOutput<typeof HEADER>>;
export type EndRecord = Readonly<v.InferOutput<typeof END>>;
export type ReopenRecord = Readonly<v.InferOutput<typeof REOPEN>>;
export type LostRecord = Readonly<v.InferOutput<typeof LOST>>;
export type SentRecord = Readonly<v.InferOutput<typeof SENT>> & {
	/** number of the execution that wrote the record: the reader adds it, no line has it */
	readonly order?: number;
};
export type StoredRecord = Readonly<v.InferOutput<typeof STORED>>;
export type SuccessRecord = Readonly<v.InferOutput<typeof SUCCESS>>;
export type FailureRecord = Readonly<v.InferOutput<typeof FAILURE>>;

/** How a row ended, and which document it was. */
export type OutcomeRecord = SuccessRecord | FailureRecord;

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
