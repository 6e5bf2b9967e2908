import type { Release } from "../flavours/release.ts";
import type { Window } from "../query.ts";
import type { SortKey } from "../store/pages.ts";
import { defaultPageSize } from "../settings.ts";
import { argument } from "./fields.ts";
import { databaseError, exception } from "./failure.ts";

/** The part of a list of documents that `page` and `page_size` ask for; `total` is the number of all documents. */
export function windowOf(query: URLSearchParams, release: Release, total: number): Window {
	const { badPage, pageOfNothing, largestPage } = release.list;
	const lenient = badPage === "first";
	const page = lenient ? positiveOf(query, "page", 1) : wholeOf(query, "page", 1);
	const limit = lenient
		? positiveOf(query, "page_size", defaultPageSize)
		: wholeOf(query, "page_size", defaultPageSize);
	if (largestPage !== undefined && limit > largestPage)
		throw exception(`ValueError('page_size must be less than or equal to ${largestPage}')`);
	if (pageOfNothing === "everything" && (page === 0 || limit === 0)) return { limit: Math.max(total, 1), offset: 0 };
	const offset = (page > 0 ? page - 1 : page) * limit;
	// What becomes of it in the query: LIMIT and OFFSET take no number below 0.
	const bad = limit < 0 ? limit : offset;
	if (bad < 0) throw databaseError(1064, syntaxError(bad), release);
	return { limit, offset: Math.abs(offset) };
}

/** A filter's text. An empty one is none: it finds everything. */
export function filterOf(query: URLSearchParams, name: string): string | undefined {
	const value = query.get(name) ?? "";
	return value === "" ? undefined : value;
}

/** Newest first, unless the request says so in the one word that the release knows. */
export function isDescending(query: URLSearchParams, release: Release): boolean {
	const value = query.get("desc") ?? "";
	return release.list.lowerCaseFalse ? value.trim().toLowerCase() !== "false" : value !== "False";
}

/** Columns of a document. Those that are the same for all of them leave the order of creation. */
const columns: ReadonlyMap<string, SortKey> = new Map<string, SortKey>([
	["create_time", "create_time"],
	["create_date", "create_time"],
	["update_time", "update_time"],
	["update_date", "update_time"],
	["name", "name_key"],
	["location", "name_key"],
	["size", "size"],
	["id", "id"],
	...["kb_id", "thumbnail", "parser_id", "parser_config", "source_type", "type", "created_by"].map(constant),
	...["token_num", "chunk_num", "progress", "progress_msg", "process_begin_at", "run", "status"].map(constant),
]);

export function orderOf(query: URLSearchParams, { list }: Release): SortKey {
	const by = query.get("orderby") ?? "create_time";
	if (list.orderBy === "three" && !["create_time", "update_time", "name"].includes(by))
		throw argument(`invalid orderby field: ${by}`);
	const key = columns.get(by);
	if (key === undefined) throw exception(`AttributeError("type object 'Document' has no attribute '${by}'")`);
	return key;
}

/** A whole number as Python's `int` reads it. */
export function wholeOf(query: URLSearchParams, name: string, otherwise: number): number {
	const text = query.get(name);
	if (text === null) return otherwise;
	if (/^\s*[+-]?\d+(?:_\d+)*\s*$/.test(text)) return Number(text.trim().replaceAll("_", ""));
	throw exception(`ValueError("invalid literal for int() with base 10: '${text}'")`);
}

/** The same, where what is no number from 1 on is as if it had not been asked for. */
function positiveOf(query: URLSearchParams, name: string, otherwise: number): number {
	const text = query.get(name) ?? "";
	const number = /^\s*\+?\d+(?:_\d+)*\s*$/.test(text) ? Number(text.trim().replaceAll("_", "")) : 0;
	return number < 1 ? otherwise : number;
}

function constant(name: string): [string, SortKey] {
	return [name, "create_time"];
}

function syntaxError(bad: number): string {
	const advice = "check the manual that corresponds to your MySQL server version for the right syntax to use";
	return `You have an error in your SQL syntax; ${advice} near '${bad}' at line 1`;
}
