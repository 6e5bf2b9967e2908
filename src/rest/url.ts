import { CliError, Exit } from "../errors.ts";
import { RestError } from "./errors.ts";
import { show } from "../text/show.ts";
import type { DocumentQuery } from "./types.ts";

const hint = "write it like https://HOST or https://HOST/api/v1";

/**
 * The one form of a base URL: origin, prefix and `/api/v1`, whatever of `/api`, `/api/v1` and closing slashes was typed.
 *
 * The text itself is never repeated: what was typed by mistake may be a key or a password.
 *
 * @throws CliError (usage) where it is no http or https address, or carries credentials, a query or a fragment
 */
export function normaliseBaseUrl(text: string): string {
	const typed = text.trim();
	// The URL parser would take out tabs and line breaks and turn backslashes around without a word.
	if (!/^https?:\/\//i.test(typed) || /[\s\\\p{Cc}]/u.test(typed)) {
		throw badBaseUrl("the base URL is not an http or https address");
	}
	if (/[?#]/.test(typed)) throw badBaseUrl("the base URL has a query or a fragment");
	const url = parse(typed);
	if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/]*@/i.test(typed)) {
		throw badBaseUrl("the base URL carries a user name or a password");
	}
	const prefix = url.pathname
		.replace(/\/+$/, "")
		.replace(/\/api(\/v1)?$/, "")
		.replace(/\/+$/, "");
	if (prefix.includes("//")) throw badBaseUrl("the path of the base URL has an empty segment");
	return `${url.origin}${prefix}/api/v1`;
}

function parse(text: string): URL {
	try {
		return new URL(text);
	} catch {
		// The parser's error repeats the text.
		throw badBaseUrl("the base URL is not a valid address");
	}
}

function badBaseUrl(message: string): CliError {
	return new CliError(message, { exit: Exit.usage, hint });
}

/**
 * An id as one segment of a path.
 *
 * An empty id or a dot would make the request one to another route: on deployed servers, one that deletes a dataset.
 *
 * @throws RestError `BAD_ID` (rejected; nothing was sent)
 */
export function segment(id: string): string {
	if (/^[A-Za-z0-9_-]+$/.test(id)) return id;
	if (id === "") throw badId("an empty text is no id");
	if (id === "." || id === "..") throw badId(`"${id}" is no id`);
	if (/\p{Cc}/u.test(id)) throw badId(`the id "${show(id)}" has a control character`);
	return encode(id);
}

/** A path below `prefix` with a query. The segments must be encoded; members of the query that are undefined are left out. */
export function pathOf(
	prefix: string,
	segments: readonly string[],
	query: Readonly<Record<string, string | number | undefined>> = {},
): string {
	const path = `${prefix}/${segments.join("/")}`;
	if (countSlashes(path) !== countSlashes(prefix) + segments.length || /\/(?:\.{0,2})(?:\/|$)/.test(path)) {
		throw badId("an id would change the route of its request");
	}
	const members: string[] = [];
	for (const [name, value] of Object.entries(query)) {
		if (value !== undefined) members.push(`${name}=${encode(String(value))}`);
	}
	return members.length === 0 ? path : `${path}?${members.join("&")}`;
}

function countSlashes(path: string): number {
	let count = 0;
	for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) count++;
	return count;
}

function encode(text: string): string {
	try {
		return encodeURIComponent(text);
	} catch {
		// Half of a surrogate pair has no UTF-8 form.
		throw badId(`"${show(text)}" is not well-formed text`);
	}
}

function badId(message: string): RestError {
	return new RestError(`${message}; nothing was sent`, { kind: "rejected", code: "BAD_ID" });
}

/** The parameters of a list, as all kinds of servers name them. `False` is understood by all releases, `false` is not. */
export function parametersOf(query: DocumentQuery): Record<string, string | number | undefined> {
	const { page, pageSize, order, id, name, condition } = query;
	const desc = order === undefined ? undefined : order.descending ? "True" : "False";
	return { page, page_size: pageSize, orderby: order?.by, desc, id, name, metadata_condition: condition };
}
