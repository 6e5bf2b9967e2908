import { type CliError, usageError } from "../errors.ts";
import { show } from "../text/show.ts";
import { urlOf } from "../text/urls.ts";
import { rejected, type RestError } from "./errors.ts";
import type { DocumentQuery } from "./types.ts";

/**
 * The one form of a base URL: origin, prefix and `/api/v1`, whether or not `/api`, `/api/v1` or slashes were typed after the
 * prefix.
 *
 * No message repeats the text: a key or a password may have been typed here by mistake.
 *
 * @throws CliError (usage) if it is no http or https address, or has credentials, a query or a fragment
 */
export function normaliseBaseUrl(text: string): string {
	const typed = text.trim();
	// The URL parser silently removes tabs and line breaks, and turns backslashes into slashes.
	if (!/^https?:\/\//i.test(typed) || /[\s\\\p{Cc}]/u.test(typed)) {
		throw badBaseUrl("the base URL is not an http or https address");
	}
	if (/[?#]/.test(typed)) throw badBaseUrl("the base URL has a query or a fragment");
	const url = urlOf(typed);
	// The parser's error would repeat the text.
	if (url === undefined) throw badBaseUrl("the base URL is not a valid address");
	if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/]*@/i.test(typed)) {
		throw badBaseUrl("the base URL has a user name or a password");
	}
	const prefix = url.pathname
		.replace(/\/+$/, "")
		.replace(/\/api(\/v1)?$/, "")
		.replace(/\/+$/, "");
	if (prefix.includes("//")) throw badBaseUrl("the path of the base URL has an empty segment");
	return `${url.origin}${prefix}/api/v1`;
}

function badBaseUrl(message: string): CliError {
	return usageError(message, "Write it like https://HOST or https://HOST/api/v1.");
}

/** An id that stands in a path as it is. */
const PLAIN_ID = /^[A-Za-z0-9_-]+$/;

/**
 * An id as one segment of a path.
 *
 * An empty id or a dot would send the request to another route. On deployed servers that route deletes a dataset.
 *
 * @throws RestError `BAD_ID` (rejected; nothing was sent)
 */
export function segment(id: string): string {
	if (PLAIN_ID.test(id)) return id;
	if (id === "") throw badId("an empty text is not an id");
	if (id === "." || id === "..") throw badId(`"${id}" is no id`);
	if (/\p{Cc}/u.test(id)) throw badId(`the id "${show(id)}" has a control character`);
	return encode(id);
}

/** The values of a member of a query; several are written one after another. */
type QueryValue = string | number | readonly string[] | undefined;

/** A path below `prefix` with a query. Segments must be encoded. Members of the query that are undefined are left out. */
export function pathOf(
	prefix: string,
	segments: readonly string[],
	query: Readonly<Record<string, QueryValue>> = {},
): string {
	const path = `${prefix}/${segments.join("/")}`;
	if (segments.some((each) => each.includes("/")) || /\/(?:\.{0,2})(?:\/|$)/.test(path)) {
		throw badId("an id would change the route of its request");
	}
	const members: string[] = [];
	for (const [name, value] of Object.entries(query)) {
		if (value === undefined) continue;
		for (const each of typeof value === "object" ? value : [value]) members.push(`${name}=${encode(String(each))}`);
	}
	return members.length === 0 ? path : `${path}?${members.join("&")}`;
}

/** The query of a list, with names that all kinds of servers know. All releases understand `False`, but not `false`. */
export function documentParameters(query: DocumentQuery): Record<string, QueryValue> {
	const { page, pageSize, order, id, ids, name } = query;
	const desc = order === undefined ? undefined : order.descending ? "True" : "False";
	return { page, page_size: pageSize, orderby: order?.by, desc, id, ids, name };
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
	return rejected("BAD_ID", `${message}; nothing was sent`);
}
