import { MANIFEST_JSON } from "../limits.ts";
import type { JsonValue } from "../../json/values.ts";
import { JsonFault } from "../../json/lexer.ts";
import { parseValue } from "../../json/parser.ts";
import { isJsonNumber, survivesDouble } from "../../json/numbers.ts";
import { booleanAdvice, numberAdvice } from "../mistaken.ts";
import type { Mend } from "../fault.ts";
import { isOneLetterApart } from "../../text/names.ts";
import { excerpt } from "../../text/show.ts";

const TYPES = ["text", "number", "boolean", "list", "json"] as const;
export type CellType = (typeof TYPES)[number];

/** Names of types in other tools. */
const ALIASES: ReadonlyMap<string, CellType> = new Map<string, CellType>([
	["string", "text"],
	["str", "text"],
	["varchar", "text"],
	["date", "text"],
	["datetime", "text"],
	["int", "number"],
	["integer", "number"],
	["float", "number"],
	["double", "number"],
	["decimal", "number"],
	["numeric", "number"],
	["num", "number"],
	["bool", "boolean"],
	["array", "list"],
	["object", "json"],
]);

function isCellType(word: string): word is CellType {
	return TYPES.some((type) => type === word);
}

/** The type that was probably meant by a word that is none; undefined when the word is simply part of the key. */
function meantType(word: string): CellType | undefined {
	if (isCellType(word) || word.length > 12) return undefined;
	const lower = word.toLowerCase();
	return ALIASES.get(lower) ?? TYPES.find((type) => isOneLetterApart(lower, type));
}

/** A key with the type that its last `:word` gives it; everything else is part of the key. */
export function splitType(name: string) {
	const colon = name.lastIndexOf(":");
	const word = colon === -1 ? "" : name.slice(colon + 1);
	if (isCellType(word)) return { key: name.slice(0, colon), type: word, explicit: true, meant: undefined };
	return { key: name, type: "text" as const, explicit: false, meant: word === "" ? undefined : meantType(word) };
}

export type CellValue =
	| { readonly value: JsonValue }
	| { readonly code: string; readonly fault: string; readonly mend?: Mend | undefined };

/** The value of a cell that is not empty. */
export function cellValue(cell: string, type: CellType): CellValue {
	switch (type) {
		case "text":
			return { value: cell };
		case "number":
			return numberOf(cell);
		case "boolean":
			// Spreadsheets save TRUE where they read true.
			if (cell === "true" || cell === "TRUE") return { value: true };
			if (cell === "false" || cell === "FALSE") return { value: false };
			return bad("BAD_BOOLEAN", `"${excerpt(cell)}" is neither true nor false`, booleanAdvice(cell));
		case "list":
			return { value: splitList(cell) };
		case "json":
			return jsonOf(cell);
	}
}

function bad(code: string, fault: string, { hint, mend }: ReturnType<typeof numberAdvice>): CellValue {
	return { code, fault: `${fault}${hint}`, mend };
}

function numberOf(cell: string): CellValue {
	if (!isJsonNumber(cell)) return bad("BAD_NUMBER", `"${excerpt(cell)}" is not a number`, numberAdvice(cell));
	if (!survivesDouble(cell)) return { code: "BAD_NUMBER", fault: `${excerpt(cell)} would be sent as ${Number(cell)}` };
	return { value: Number(cell) };
}

function jsonOf(cell: string): CellValue {
	try {
		return { value: parseValue(cell, MANIFEST_JSON) };
	} catch (error) {
		if (!(error instanceof JsonFault)) throw error;
		return { code: error.code, fault: error.message };
	}
}

/** Items divided by `|`; `\|` is the character itself and `\\` a backslash. Nothing is trimmed. */
export function splitList(cell: string): string[] {
	if (!cell.includes("\\")) return cell.split("|");
	const items = [""];
	for (let at = 0; at < cell.length; at++) {
		const character = cell.charAt(at);
		const next = cell.charAt(at + 1);
		if (character === "|") items.push("");
		else if (character === "\\" && (next === "|" || next === "\\")) {
			items[items.length - 1] += next;
			at++;
		} else items[items.length - 1] += character;
	}
	return items;
}

export function joinList(items: readonly string[]): string {
	return items.map((item) => item.replaceAll(/[\\|]/g, "\\$&")).join("|");
}
