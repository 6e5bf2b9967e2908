import { show } from "../text/show.ts";
import { RestError } from "./errors.ts";

/**
 * An id as one segment of a path.
 *
 * An empty id or a dot would make the request one to another route: on deployed servers, one that deletes a dataset.
 *
 * @throws RestError `BAD_ID` (rejected; nothing was sent)
 */
export function segment(id: string): string {
	if (/^[A-Za-z0-9_-]+$/.test(id)) return id;
	if (id === "") throw refusal("an empty text is no id");
	if (id === "." || id === "..") throw refusal(`"${id}" is no id`);
	if (/\p{Cc}/u.test(id)) throw refusal(`the id "${show(id)}" has a control character`);
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
		throw refusal("an id would change the route of its request");
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
		throw refusal(`"${show(text)}" is not well-formed text`);
	}
}

function refusal(message: string): RestError {
	return new RestError(`${message}; nothing was sent`, { kind: "rejected", code: "BAD_ID" });
}
