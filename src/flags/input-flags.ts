import { InvalidArgumentError } from "commander";
import { encodingOf } from "../manifest/bytes/encodings.ts";
import { dateFormOf } from "../manifest/csv/date-form.ts";
import { type CellType, splitType } from "../manifest/rows/typed.ts";
import type { ManifestOptions } from "../manifest/types.ts";
import type { RecordedFlags } from "./payload-options.ts";
import { refused } from "./refuse.ts";
import { by, collect, parseNonEmpty } from "./values.ts";
import { parseShard, type Shard, SHARD_FORM } from "../shard.ts";
import { NAME_FORMS } from "../files/stored-names.ts";
import type { Given } from "./flags.ts";
import { Flag, oneOf, toggle, valued, type ValuesOf } from "./declare.ts";

const parseEncoding = by(encodingOf, "the name of an encoding, as in windows-1252, iso-8859-15 or macintosh");

/** Options that say how a spreadsheet was saved. */
export const SHEET = {
	sheet: valued("--sheet <name or n>", "the sheet of a workbook (default: the first)", parseNonEmpty),
	encoding: valued("--encoding <name>", "encoding of a file that is not UTF-8, as in windows-1252", parseEncoding),
	decimalComma: toggle("--decimal-comma", "1.234,5 is a number in a column of numbers"),
	dateFormat: valued(
		"--date-format <form>",
		"texts of this form are dates, as in DD.MM.YYYY, in columns without a type",
		parseDateForm,
	),
	listSeparator: valued(
		"--list-separator <text>",
		"divides the items of a list, as in a comma or \\n (default: |)",
		parseSeparator,
	),
	true: valued("--true <words>", "words for true in a column of booleans, as in ja,wahr,x", parseWords),
	false: valued("--false <words>", "words for false, as in nein,falsch", parseWords),
};

/** `types` of columns whose header names none come from a file of options. */
export type SheetFlags = ValuesOf<typeof SHEET> & Pick<RecordedFlags, "types">;

/** The flags as the reader of a manifest takes them. @throws CliError exit 2 where a word means true and false */
export function sheetOptions(flags: SheetFlags): Pick<ManifestOptions, "sheet" | "types" | "encoding" | "cells"> {
	const { sheet, encoding, decimalComma = false, dateFormat, listSeparator, true: yes = [], false: no = [] } = flags;
	const both = yes.find((word) => no.includes(word));
	if (both !== undefined) {
		throw refused(`--true and --false both name ${both}`);
	}
	const date = dateFormat === undefined ? undefined : dateFormOf(dateFormat);
	if (typeof date === "string") {
		throw refused(`--date-format: ${date}`);
	}
	const isPlain =
		!decimalComma && date === undefined && listSeparator === undefined && yes.length === 0 && no.length === 0;
	const cells = { decimalComma, date, listSeparator, trueWords: new Set(yes), falseWords: new Set(no) };
	const types = new Map((flags.types ?? []).map(([column, word]) => [column, typeOf(column, word)] as const));
	return { sheet, types, encoding, cells: isPlain ? undefined : cells };
}

function typeOf(column: string, word: string): CellType {
	const { type, explicit } = splitType(`:${word}`);
	if (explicit) return type;
	throw refused(`types: ${column} has the type ${word}`, "A type is text, number, boolean, list or json.");
}

function parseDateForm(text: string): string {
	const form = dateFormOf(text);
	if (typeof form === "string") throw new InvalidArgumentError(`It is a form such as DD.MM.YYYY: ${form}.`);
	return text;
}

/** A shell gives no line end and no tab in plain quotes. */
function parseSeparator(text: string): string {
	if (text === "") throw new InvalidArgumentError("It must not be empty.");
	return text.replaceAll(String.raw`\n`, "\n").replaceAll(String.raw`\t`, "\t");
}

function parseWords(text: string): readonly string[] {
	return parseNonEmpty(text)
		.toLowerCase()
		.split(",")
		.map((word) => {
			if (word.trim() === "") throw new InvalidArgumentError("A word is empty. Commas divide the words: ja,wahr.");
			return word.trim();
		});
}

/** Of commands that take ids in place of a manifest. */
export const IDS = {
	id: new Flag<readonly string[]>("--id <id...>", "ids instead of a manifest (repeatable)").rule(
		"excludes",
		"--id or --name",
		undefined,
		"MANIFEST",
	),
};

/** The part of the rows that a run takes. `declare` asks the scheduler for `auto`. */
export function shardOption(): Flag<Shard> {
	return new Flag<Shard>(
		"--shard <i/n or auto>",
		"takes only part I of N of the rows, by a hash of the document; auto asks the scheduler of the job",
	).argParser(by((text) => (text === "auto" ? text : parseShard(text)), `${SHARD_FORM}; or auto`));
}

/** Other machines may find other rows. */
export const SHARDS_NEED_A_MANIFEST =
	"It takes a part of a manifest: write the rows to one first, and give the same file to every shard.";

/** The same of commands whose rows may come from elsewhere. */
export const SHARD = {
	shard: shardOption().rule("needs", "MANIFEST", SHARDS_NEED_A_MANIFEST),
};

/** Options of commands that take folders. A manifest names its files itself. */
export const FILES = {
	include: valued(
		"--include <glob>",
		"takes only files of folders that match, as '*.pdf' or 'hr/**' (repeatable)",
		collect,
	),
	exclude: valued("--exclude <glob>", "leaves out files and folders that match (repeatable)", collect),
	filesFrom: valued("--files-from <file>", "file with the paths, one a line; - reads standard input", parseNonEmpty),
	null: toggle("-0, --null", "paths of --files-from end in NULs, as find -print0 writes them").rule(
		"needs",
		"--files-from",
	),
	names: oneOf(
		"--names <form>",
		NAME_FORMS,
		"names of files in folders: their path (hr/a.pdf), flat (hr__a.pdf) or base (a.pdf) (default: path)",
	),
	follow: toggle("--follow", "follows symbolic links, each target once; they are left out otherwise"),
};

/** @param verb what it does to a file: `uploads` */
export function sidecarsOption(verb: string): Flag<boolean> {
	const text = `of the files, ${verb} a.pdf.meta.json too; it is read as the metadata of a.pdf otherwise`;
	return toggle("--no-sidecars", text);
}

/** Flags that say which files are meant, and under what names. Without `sidecars` those are files like others. */
export type FileFlags = ValuesOf<typeof FILES> & Given<{ sidecars: boolean }>;
