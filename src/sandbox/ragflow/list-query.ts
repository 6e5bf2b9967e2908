import type { MetadataFilter } from "../condition/filter.ts";
import type { Condition } from "../condition/operators.ts";
import type { ListRules, Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { isFalsy, parsePythonJson, pythonRepr, pythonType } from "../python.ts";
import { collationKey } from "../store/collation.ts";
import type { PageWindow, SortKey } from "../store/pages.ts";
import { Code, databaseError, exception, Failure } from "./failure.ts";
import { argumentError } from "./request.ts";

/** The part of a list of documents that `page` and `page_size` select; `total` is the number of all documents. */
export function windowOf(query: URLSearchParams, release: Release, total: number): PageWindow {
	const { badPage, zeroPage, defaultPageSize, maxPageSize, overMaxPageSize } = release.list;
	const numberOf = badPage === "default" ? positiveOf : wholeOf;
	const page = numberOf(query, "page", 1);
	const size = numberOf(query, "page_size", defaultPageSize);
	const isOver = maxPageSize !== undefined && size > maxPageSize;
	const limit = isOver && overMaxPageSize === "default" ? defaultPageSize : size;
	if (isOver && overMaxPageSize === "refused")
		throw exception(`ValueError('page_size must be less than or equal to ${maxPageSize}')`);
	if (zeroPage === "everything" && (page === 0 || limit === 0)) return { limit: Math.max(total, 1), offset: 0 };
	const offset = (page > 0 ? page - 1 : page) * limit;
	// LIMIT and OFFSET take no negative number, so the query fails.
	const negative = limit < 0 ? limit : offset;
	if (negative < 0) throw databaseError(1064, syntaxError(negative), release);
	return { limit, offset: Math.abs(offset) };
}

function syntaxError(near: number): string {
	const advice = "check the manual that corresponds to your MySQL server version for the right syntax to use";
	return `You have an error in your SQL syntax; ${advice} near '${near}' at line 1`;
}

/** A filter's text. An empty one is no filter. */
export function filterOf(query: URLSearchParams, name: string): string | undefined {
	const value = query.get(name) ?? "";
	return value === "" ? undefined : value;
}

/** The documents that the parameter `ids` names; undefined where all are meant. */
export function idsOf(query: URLSearchParams, { list }: Release): ReadonlySet<string> | undefined {
	const ids = list.ids === "ignored" ? [] : query.getAll("ids");
	if (list.ids === "at-most-100" && ids.length > 100) throw argumentError("ids must contain at most 100 IDs");
	const id = filterOf(query, "id");
	if (ids.length > 0 && id !== undefined && list.ids === "beside-filters")
		throw refusedList(`should not provide both 'id':${id} and 'ids'[${ids.join(" ")}]`, list);
	// The server means to refuse it, and returns two values where its caller takes four.
	if (ids.length > 0 && id !== undefined)
		throw exception("ValueError('not enough values to unpack (expected 4, got 2)')");
	return ids.length === 0 ? undefined : new Set(ids.map(collationKey));
}

/** Newest first, unless the request has the one word that the release knows. */
export function isDescending(query: URLSearchParams, release: Release): boolean {
	const value = query.get("desc") ?? "";
	return release.list.lowerCaseFalse ? value.trim().toLowerCase() !== "false" : value !== "False";
}

/** Columns of a document. Those with the same value for all documents leave the order of creation. */
const columns: ReadonlyMap<string, SortKey> = new Map<string, SortKey>([
	["create_time", "create_time"],
	["create_date", "create_time"],
	["update_time", "update_time"],
	["update_date", "update_time"],
	["name", "name_key"],
	["location", "name_key"],
	["size", "size"],
	["id", "id"],
	...["kb_id", "thumbnail", "parser_id", "parser_config", "source_type", "type", "created_by"].map(constantColumn),
	...["token_num", "chunk_num", "progress", "progress_msg", "process_begin_at", "run", "status"].map(constantColumn),
]);

function constantColumn(name: string): [string, SortKey] {
	return [name, "create_time"];
}

export function orderOf(query: URLSearchParams, { list }: Release): SortKey {
	const sent = query.get("orderby") ?? "create_time";
	const by = list.orderBy === "three-first" && sent === "" ? "create_time" : sent;
	if (list.orderBy !== "any-column" && !["create_time", "update_time", "name"].includes(by))
		throw argumentError(`invalid orderby field: ${by}`);
	const key = columns.get(by);
	if (key === undefined) throw exception(`AttributeError("type object 'Document' has no attribute '${by}'")`);
	return key;
}

/** A whole number as Python's `int` reads it. */
export function wholeOf(query: URLSearchParams, name: string, absent: number): number {
	const text = query.get(name);
	if (text === null) return absent;
	if (/^\s*[+-]?\d+(?:_\d+)*\s*$/.test(text)) return Number(text.trim().replaceAll("_", ""));
	throw exception(`ValueError("invalid literal for int() with base 10: '${text}'")`);
}

/** A time in milliseconds; 0 for none. v1.0 refuses other text in a list's words, and takes an empty one for none. */
export function timeOf(query: URLSearchParams, name: string, list: ListRules): number {
	if (!list.refusalHasList) return wholeOf(query, name, 0);
	const text = query.get(name) ?? "";
	if (text !== "" && !/^[+-]?\d+$/.test(text)) throw refusedList(`${name} must be an integer`, list);
	return Number(text);
}

/** A whole number from 1 on; any other text counts as absent. */
function positiveOf(query: URLSearchParams, name: string, absent: number): number {
	const text = query.get(name) ?? "";
	const number = /^\s*\+?\d+(?:_\d+)*\s*$/.test(text) ? Number(text.trim().replaceAll("_", "")) : 0;
	return number < 1 ? absent : number;
}

const shorthands: ReadonlyMap<string, string> = new Map([
	["is", "="],
	["not is", "≠"],
]);

const asciiOperators: ReadonlyMap<string, string> = new Map([
	[">=", "≥"],
	["<=", "≤"],
	["!=", "≠"],
]);

/** The parameter `metadata_condition`; `undefined` where it finds everything (`convert_conditions`). */
export function conditionOf(query: URLSearchParams, { list }: Release): MetadataFilter | undefined {
	const { condition: rules } = list;
	const text = query.get("metadata_condition") ?? "";
	if (rules === undefined || (text === "" && !(list.checksPageFirst && query.has("metadata_condition"))))
		return undefined;
	if (rules === "checked" && text.trim() === "") return undefined;
	const filter = parsedCondition(text, list.checksPageFirst ? `: ${text}.` : ".", list);
	if (isFalsy(filter) && rules !== "checked") return undefined;
	if (!isObject(filter)) throw refusedList("metadata_condition must be an object.", list);
	if (rules === "checked") return undefined;
	const { conditions: sent = [], logic = "and" } = filter;
	if (!Array.isArray(sent) && !isObject(sent) && typeof sent !== "string")
		throw exception(`TypeError("'${pythonType(sent)}' object is not iterable")`);
	const entries: readonly unknown[] = isObject(sent) ? Object.keys(sent) : Array.from<unknown>(sent);
	const conditions = entries.map((each) => {
		return oneCondition(each, rules.asciiOperators);
	});
	return conditions.length === 0 && rules.withoutConditions === "all" ? undefined : { logic, conditions };
}

/** Refuses a condition that is no JSON, before other parameters are read. */
export function checkConditionText(query: URLSearchParams, list: ListRules): void {
	const text = query.get("metadata_condition");
	const isNone = text === null || (list.condition === "checked" && text.trim() === "");
	if (!isNone) parsedCondition(text, `: ${text}.`, list);
}

function parsedCondition(text: string, end: string, list: ListRules): unknown {
	try {
		return parsePythonJson(text);
	} catch {
		throw refusedList(`metadata_condition must be valid JSON${end}`, list);
	}
}

/** A refusal of a list: it has an empty list beside its code in v1.0. */
export function refusedList(message: string, { refusalHasList }: ListRules): Failure {
	return new Failure(Code.data, message, refusalHasList ? { data: '{"docs":[],"total":0}' } : {});
}

function oneCondition(condition: unknown, withAsciiOperators: boolean): Condition {
	if (!isObject(condition)) throw exception("TypeError(\"string indices must be integers, not 'str'\")");
	const [sent, key, value] = ["comparison_operator", "name", "value"].map((name) => {
		if (Object.hasOwn(condition, name)) return condition[name];
		throw exception(`KeyError(${pythonRepr(name)})`);
	});
	const operator = String(sent);
	const ascii = withAsciiOperators ? asciiOperators.get(operator) : undefined;
	return { operator: shorthands.get(operator) ?? ascii ?? operator, key: String(key), value };
}
