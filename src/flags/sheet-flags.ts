import { type Command, InvalidArgumentError } from "commander";
import { usageError } from "../errors.ts";
import { encodingOf } from "../manifest/bytes/encodings.ts";
import { dateFormOf } from "../manifest/csv/date-form.ts";
import { type CellType, splitType } from "../manifest/rows/typed.ts";
import type { ManifestOptions } from "../manifest/types.ts";
import { quoted } from "./next-command.ts";
import { parseNonEmpty } from "./values.ts";

/** Flags that say how a spreadsheet was saved. */
export type SheetFlags = {
	readonly sheet?: string | undefined;
	/** types of columns whose header names none, from a file of options */
	readonly types?: readonly (readonly [string, string])[] | undefined;
	readonly encoding?: string | undefined;
	readonly decimalComma?: boolean | undefined;
	readonly dateFormat?: string | undefined;
	readonly listSeparator?: string | undefined;
	readonly true?: readonly string[] | undefined;
	readonly false?: readonly string[] | undefined;
};

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
		throw usageError(`--true and --false both name ${both}; nothing was sent`);
	}
	const date = dateFormat === undefined ? undefined : dateFormOf(dateFormat);
	if (typeof date === "string") {
		throw usageError(`--date-format: ${date}; nothing was sent`);
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
	throw usageError(
		`types: ${column} has the type ${word}; nothing was sent`,
		"A type is text, number, boolean, list or json.",
	);
}

function parseEncoding(text: string): string {
	const encoding = encodingOf(text);
	if (encoding !== undefined) return encoding;
	throw new InvalidArgumentError("It is the name of an encoding, as in windows-1252, iso-8859-15 or macintosh.");
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

function parseWords(text: string): string[] {
	return parseNonEmpty(text)
		.toLowerCase()
		.split(",")
		.map((word) => {
			if (word.trim() === "") throw new InvalidArgumentError("A word is empty. Commas divide the words: ja,wahr.");
			return word.trim();
		});
}

/** The flags as they are typed again. */
export function sheetWords({ decimalComma, ...flags }: SheetFlags): string[] {
	const texts: readonly (readonly [string, string | undefined])[] = [
		["--sheet", flags.sheet],
		["--encoding", flags.encoding],
		["--date-format", flags.dateFormat],
		["--list-separator", flags.listSeparator],
		["--true", flags.true?.join(",")],
		["--false", flags.false?.join(",")],
	];
	const words = texts.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(value)]));
	return decimalComma === true ? [...words, "--decimal-comma"] : words;
}
