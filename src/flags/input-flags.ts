import { type Command, InvalidArgumentError, Option } from "commander";
import { encodingOf } from "../manifest/bytes/encodings.ts";
import { dateFormOf } from "../manifest/csv/date-form.ts";
import { type CellType, splitType } from "../manifest/rows/typed.ts";
import type { ManifestOptions } from "../manifest/types.ts";
import type { RecordedFlags } from "./payload-options.ts";
import { addRule, refused } from "./refuse.ts";
import { by, collect, parseNonEmpty } from "./values.ts";
import type { App } from "../app.ts";
import { parseShard, SHARD_FORM } from "../shard.ts";
import { NAME_FORMS, type NameForm } from "../files/stored-names.ts";

/** Flags that say how a spreadsheet was saved. `types` of columns whose header names none come from a file of options. */
export type SheetFlags = Pick<
	RecordedFlags,
	"sheet" | "types" | "encoding" | "decimalComma" | "dateFormat" | "listSeparator" | "true" | "false"
>;

export function addSheetOptions(command: Command): Command {
	return command
		.option("--config <file>", "options kept in a YAML file; what is typed wins", parseNonEmpty)
		.option("--sheet <name or n>", "the sheet of a workbook (default: the first)", parseNonEmpty)
		.option("--encoding <name>", "encoding of a file that is not UTF-8, as in windows-1252", parseEncoding)
		.option("--decimal-comma", "1.234,5 is a number in a column of numbers")
		.option(
			"--date-format <form>",
			"texts of this form are dates, as in DD.MM.YYYY, in columns without a type",
			parseDateForm,
		)
		.option("--list-separator <text>", "divides the items of a list, as in a comma or \\n (default: |)", parseSeparator)
		.option("--true <words>", "words for true in a column of booleans, as in ja,wahr,x", parseWords)
		.option("--false <words>", "words for false, as in nein,falsch", parseWords);
}

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

const parseEncoding = by(encodingOf, "the name of an encoding, as in windows-1252, iso-8859-15 or macintosh");

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

function parseWords(text: string): string[] {
	return parseNonEmpty(text)
		.toLowerCase()
		.split(",")
		.map((word) => {
			if (word.trim() === "") throw new InvalidArgumentError("A word is empty. Commas divide the words: ja,wahr.");
			return word.trim();
		});
}

/** Of commands that take ids in place of a manifest. */
export function addIdOption(command: Command): Command {
	addRule(command, "MANIFEST", "excludes", "--id or --name");
	return command.option("--id <id...>", "ids instead of a manifest (repeatable)");
}

/** The part of the manifest's rows that a run takes. */
export type ShardFlags = Pick<RecordedFlags, "shard">;

export function addShardOption(command: Command, app: Pick<App, "shard">): Command {
	if (command.registeredArguments.some((argument) => argument.name() === "manifest"))
		addRule(command, "--shard", "needs", "MANIFEST", SHARDS_NEED_A_MANIFEST);
	return command.option(
		"--shard <i/n or auto>",
		"takes only part I of N of the rows, by a hash of the document; auto asks the scheduler of the job",
		by((text) => (text === "auto" ? app.shard() : parseShard(text)), `${SHARD_FORM}; or auto`),
	);
}

/** Other machines may find other rows. */
export const SHARDS_NEED_A_MANIFEST =
	"It takes a part of a manifest: write the rows to one first, and give the same file to every shard.";

/** Flags that say which files are meant, and under what names. */
export type FileFlags = {
	readonly include?: readonly string[] | undefined;
	readonly exclude?: readonly string[] | undefined;
	readonly filesFrom?: string | undefined;
	/** whether the paths of `filesFrom` stand between NULs */
	readonly null?: boolean | undefined;
	readonly names?: NameForm | undefined;
	readonly follow?: boolean | undefined;
	/** false: sidecars are files like others */
	readonly sidecars?: boolean | undefined;
};

/** Flags of the files of folders. A manifest names its files itself. */
const OF_FOLDERS = ["include", "exclude", "filesFrom", "null", "names", "follow"] as const;

/** Options of commands that take folders. @param verb what `--no-sidecars` does to a file: `uploads` */
export function addFileOptions(command: Command, verb: string): Command {
	addRule(command, "-0", "needs", "--files-from");
	return command
		.option("--include <glob>", "takes only files of folders that match, as '*.pdf' or 'hr/**' (repeatable)", collect)
		.option("--exclude <glob>", "leaves out files and folders that match (repeatable)", collect)
		.option("--files-from <file>", "file with the paths, one a line; - reads standard input", parseNonEmpty)
		.option("-0, --null", "paths of --files-from end in NULs, as find -print0 writes them")
		.addOption(
			new Option(
				"--names <form>",
				"names of files in folders: their path (hr/a.pdf), flat (hr__a.pdf) or base (a.pdf) (default: path)",
			).choices(NAME_FORMS),
		)
		.option("--follow", "follows symbolic links, each target once; they are left out otherwise")
		.option(
			"--no-sidecars",
			`of the files, ${verb} a.pdf.meta.json too; it is read as the metadata of a.pdf otherwise`,
		);
}

/** The flags that mean nothing without folders, as they are typed. */
export function fileFlagsGiven(flags: FileFlags): readonly string[] {
	return OF_FOLDERS.filter((name) => flags[name] !== undefined).map((name) =>
		name === "filesFrom" ? "--files-from" : `--${name}`,
	);
}
