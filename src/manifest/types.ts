import type { ValueType } from "../json/value-types.ts";
import type { JsonValue, Metadata } from "../json/values.ts";
import type { Fault } from "./fault.ts";
import type { Content } from "./bytes/source.ts";
import type { Shard } from "../shard.ts";
import type { Purpose } from "./purposes.ts";
import type { RawRow } from "./rows/row-reader.ts";
import type { CellType } from "./rows/typed.ts";
import type { CellForms } from "./csv/add-cell.ts";

export type { Content } from "./bytes/source.ts";

/** Options for reading a manifest. Each changes what is sent, none where it is sent. */
export type ManifestOptions = {
	readonly purpose: Purpose;
	/** dataset of rows that have no `dataset_id` */
	readonly dataset: string | undefined;
	/** column → key or reserved name, applied before the header is read */
	readonly map: ReadonlyMap<string, string>;
	/** columns or members that are dropped */
	readonly ignore: ReadonlySet<string>;
	/** added to every row; wins over a column of that key */
	readonly set: Metadata;
	/** the texts of those values, with their types */
	readonly setCells?: readonly SetCell[] | undefined;
	/** what an empty CSV cell means: key not sent, `null`, or `""` */
	readonly empty: "skip" | "null" | "text";
	/** a JSON Schema that each row's metadata must meet, `"none"`, or the built-in checks of `publish_date` and `url` */
	readonly schema: JsonValue | undefined;
	/** the name of the schema's file, for messages */
	readonly schemaName?: string | undefined;
	readonly onDuplicate: "error" | "first" | "last";
	/** of a file without a byte-order mark; UTF-8 by default */
	readonly encoding?: string | undefined;
	/** types of columns whose header names none. CSV and workbooks alone */
	readonly types?: ReadonlyMap<string, CellType> | undefined;
	/** the name of the sheet that is read, or its number from 1; the first one by default. Workbooks alone */
	readonly sheet?: string | undefined;
	/** how a spreadsheet wrote the cells; undefined where they are as a manifest has them */
	readonly cells?: CellForms | undefined;
	/**
	 * `--mode merge`, and only then: a cell of this text is kept unchanged and unchecked, whatever its column's type; a
	 * list of `+item` and `-item` is checked by what it adds
	 */
	readonly deleteToken?: string | undefined;
	/**
	 * `--mode replace`, and only then: a value of this text is a problem, as is a list of `+item` and `-item` where
	 * `lists` says so. A `:json` cell is neither: its value is taken literally
	 */
	readonly mergeOnly?: { readonly token: string; readonly lists: boolean } | undefined;
	/** `upload`: the folder that files must lie below; default is the manifest's folder */
	readonly filesRoot: string | undefined;
	/** the part of the rows that is counted and read, by a hash of how each names its document; all of them are checked */
	readonly shard?: Shard | undefined;
};

/** A value of `--set` as it was typed. */
export type SetCell = { readonly key: string; readonly type: CellType; readonly cell: string };

/**
 * The keys that rows write, each with the types of its values and the line of the first of each type, which is undefined for
 * `--set`. A key has no type where rows only remove it or change a list.
 */
export type ManifestKeys = ReadonlyMap<string, ReadonlyMap<ValueType, number | undefined>>;

/** One thing that is wrong with a manifest. Lines and columns count from 1, columns in characters. */
export type Problem = Omit<Fault, "offset" | "ofValue"> & {
	readonly file: string;
	readonly line: number;
	readonly column: number;
	/** one sentence, the field named in it */
	readonly text: string;
	/** the sheet of a workbook; lines and columns are its rows and columns */
	readonly sheet?: string | undefined;
};

/** The record as it stood in the manifest, for the failed-rows file. */
export type SourceRecord = Pick<RawRow, "text" | "cells" | "values">;

/** `resolve`: the name that a row gives instead of an id, and its place. */
export type NameReference = {
	/** the file that a message about it names */
	readonly file: string;
	/** empty where the row has an id */
	readonly name: string;
	/** computed when it is needed: hardly any row has a problem */
	place(): { readonly line: number; readonly column: number };
};

/** One valid row, ready to be planned. */
export type Row = {
	/** position among all rows of the manifest, from 0, invalid and duplicate ones included */
	readonly index: number;
	/** the line on which its record begins, from 1 */
	readonly line: number;
	readonly datasetId: string;
	/** empty for `upload`, and for `resolve` where the row has a name alone */
	readonly documentId: string;
	/** the document's name as the manifest says it; nothing is found by it, except for `resolve` */
	readonly name?: string | undefined;
	/** `upload`: absolute path of the file and the name to store it under */
	readonly file: { readonly path: string; readonly name: string } | undefined;
	readonly metadata: Metadata;
	readonly source: SourceRecord;
	/** `resolve` alone */
	readonly nameReference?: NameReference | undefined;
};

/** The reason of a failed row, for the failed-rows file. */
export type RowFailure = Pick<Fault, "code" | "text"> & { readonly line: number; readonly attempts: number };

/** `upload`: the path of a row's file, as a manifest in another folder must give it. */
export type RowPlace = { readonly file: string; readonly name: string; readonly datasetId: string };

/** Writes failed rows so that the file can be fed back as a manifest. Pure: it returns text. */
export type FailedRowFormat = {
	/** the ending of a file of such rows */
	readonly ending: "csv" | "jsonl";
	/** first bytes of the file: the CSV header line, or nothing for JSON lines */
	readonly head: string;
	row(source: SourceRecord, failure: RowFailure, place?: RowPlace): string;
};

/** The result of the check of a whole manifest. Temporary files exist until `close`. */
export type CheckedManifest = {
	/** its name in messages: as the user typed it, `-` for standard input */
	readonly name: string;
	readonly format: "csv" | "json" | "jsonl" | "xlsx";
	/** all rows of this shard: valid, invalid and duplicate ones */
	readonly rows: number;
	/** rows of other shards, which are in no other count; 0 without a shard */
	readonly otherRows: number;
	/** rows with at least one problem */
	readonly invalid: number;
	/** rows left out because an equal one, or the chosen one, is sent instead */
	readonly duplicateSkipped: number;
	/** all problems, those of the header included */
	readonly problems: number;
	/** a problem that makes every row uncertain (header, encoding, unclosed quote): `--skip-invalid` does not help */
	readonly fatal: boolean;
	/**
	 * The valid rows in order, read a second time.
	 * @throws CliError exit 8 if the manifest changed after the check
	 */
	read(): AsyncIterable<Row>;
	/**
	 * The same rows, some hundred at a time, which costs a third less.
	 *
	 * @param isWanted leaves out rows, which then cost half as much; every row where it is absent
	 */
	readBatches(isWanted?: IsWanted): AsyncIterable<readonly Row[]>;
	readonly failedRows: FailedRowFormat;
	readonly keys: ManifestKeys;
	/** the first datasets of valid rows, each with the line that names it first */
	readonly datasets: ReadonlyMap<string, number>;
	/** the number of valid rows of each of them */
	readonly rowsByDataset: ReadonlyMap<string, number>;
	/** values that are valid and probably mean something else, as sentences */
	readonly notes: readonly string[];
	/** identifies the content, whatever the name is */
	readonly content: Content;
	/** removes temporary files */
	close(): Promise<void>;
};

/** Whether the row at a position in the manifest is wanted. */
export type IsWanted = (index: number) => boolean;

/** A row with no faults but those of values. */
type QuestionableRow = Pick<Row, "line" | "datasetId" | "documentId" | "metadata">;

export type CheckDependencies = {
	/** the manifest's name in messages, if its path means nothing to the user */
	readonly name?: string | undefined;
	readonly stdin: AsyncIterable<Uint8Array>;
	/** called for every problem, in the order of the lines; problems that only the end shows come last */
	readonly onProblem: (problem: Problem) => void;
	/** rows checked so far, every few thousand */
	readonly onProgress?: (rows: number) => void;
	readonly signal?: AbortSignal;
	/**
	 * whether the row's document has the value of a key already, so that a fault of the value is no problem. Called only for
	 * rows that have no other fault
	 */
	readonly isAlreadyPresent?: ((row: QuestionableRow, key: string) => Promise<boolean>) | undefined;
	/**
	 * `upload`: whether this service takes names for equal that `foldedName` makes one text. Called only if two rows have
	 * different names of which that is true
	 */
	readonly foldsNames?: ((problems: number) => Promise<boolean>) | undefined;
	/** the folder for a copy of standard input and for the search for duplicates; the system's folder by default */
	readonly temporaryFolder?: string | undefined;
};
