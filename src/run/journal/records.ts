import { isJsonObject, type JsonObject, type Metadata } from "../../json/values.ts";
import { noOutcomes, type RowStatus } from "../../outcomes.ts";
import type { Totals } from "../types.ts";

/** The format of the journal. Another format is refused, as this version would not know every record of it. */
export const FORMAT = 2;

type Check<Value> = (value: unknown) => value is Value;
type Checks = { readonly [name: string]: Check<unknown> };
type Checked<Each> = Each extends Check<infer Value> ? Value : never;
type OptionalName<Table> = {
	[Name in keyof Table]: undefined extends Checked<Table[Name]> ? Name : never;
}[keyof Table];

/** An object with the members of a table of checks. A member that may be undefined may be absent. */
type Members<Table> = { readonly [Name in Exclude<keyof Table, OptionalName<Table>>]: Checked<Table[Name]> } & {
	readonly [Name in OptionalName<Table>]?: Checked<Table[Name]> | undefined;
};

function isText(value: unknown): value is string {
	return typeof value === "string";
}

/** An exact whole number, 0 or more. */
function isCount(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isTexts(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every(isText);
}

function optional<Value>(check: Check<Value>): Check<Value | undefined> {
	return (value): value is Value | undefined => value === undefined || check(value);
}

function objectOf<Table extends Checks>(table: Table): Check<Members<Table>> {
	return (value): value is Members<Table> => isJsonObject(value) && fits(value, table);
}

/** Whether an object has the members of a table, each of its type. Other members are ignored. */
export function fits<Table extends Checks>(value: JsonObject, table: Table): value is JsonObject & Members<Table> {
	return Object.entries(table).every(([name, check]) => check(value[name]));
}

const MANIFEST = {
	name: isText,
	/** null where it came from standard input */
	path: (value: unknown): value is string | null => value === null || isText(value),
	sha256: isText,
	bytes: isCount,
	rows: isCount,
	invalid: isCount,
	duplicateSkipped: isCount,
	/** for a shard: rows of other shards, which the other counts leave out; absent for a whole manifest */
	otherRows: optional(isCount),
};

const COUNTS = {
	rows: isCount,
	updated: isCount,
	unchanged: isCount,
	uploaded: isCount,
	replaced: isCount,
	renamed: isCount,
	removed: isCount,
	parsed: isCount,
	downloaded: isCount,
	failed: isCount,
	invalid: isCount,
	duplicateSkipped: isCount,
	pending: isCount,
	attempts: isCount,
};

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
	header: {
		version: (value: unknown): value is typeof FORMAT => value === FORMAT,
		run: isText,
		/** version of the program */
		tool: isText,
		/** `docs tag` */
		command: isText,
		manifest: objectOf(MANIFEST),
		target: objectOf({ baseUrl: isText }),
		/** SHA-256 of the options that change what is sent */
		options: isText,
		/** number of the execution in the order of all executions, whatever the clock said */
		order: optional(isCount),
		/** how long earlier executions took together; absent in the first */
		earlierMilliseconds: optional(isCount),
		time: isText,
	},
	end: { counts: objectOf(COUNTS), exitCode: isCount, time: isText },
	reopen: { time: isText, codes: optional(isTexts) },
	lost: { records: isCount, time: isText },
	sent: {
		/** when it was about to be sent, in epoch milliseconds */
		time: isCount,
		metadata: optional(isJsonObject),
		before: optional(isJsonObject),
		/** `upload` and `rename`: the name that is sent. `upload`: the file's bytes, and the ids of the documents that had the name before */
		fileName: optional(isText),
		size: optional(isCount),
		namesakes: optional(isTexts),
		/** `rename`: the name that the document had */
		oldName: optional(isText),
	},
	stored: { storedName: isText },
	outcome: {
		/** the name under which an upload was stored */
		storedName: optional(isText),
		error: optional(objectOf({ code: isText, text: isText })),
	},
} as const;

type MembersOf<Kind extends keyof typeof MEMBERS> = Members<(typeof MEMBERS)[Kind]>;

/** The identity of a manifest, and the counts of its check. */
export type RecordedManifest = Members<typeof MANIFEST>;

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
