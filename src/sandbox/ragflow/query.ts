import type { Release } from "../flavours/release.ts";
import type { Window } from "../query.ts";
import { defaultPageSize } from "../settings.ts";
import { exception } from "./failure.ts";

/** The part of a list that `page` and `page_size` ask for; any size, where the release has no limit. */
export function windowOf(query: URLSearchParams, largestPage?: number): Window {
	// Page 0 is the first, too.
	const page = Math.max(whole(query, "page", 1, 0), 1);
	const limit = whole(query, "page_size", defaultPageSize, 1);
	if (largestPage !== undefined && limit > largestPage)
		throw exception(`ValueError('page_size must be less than or equal to ${largestPage}')`);
	return { limit, offset: (page - 1) * limit };
}

/** A filter's text. An empty one is none: it finds everything. */
export function filterOf(query: URLSearchParams, name: string): string | undefined {
	const value = query.get(name) ?? "";
	return value === "" ? undefined : value;
}

/** Newest first, unless the request says so in the one word that the release knows. */
export function isDescending(query: URLSearchParams, release: Release): boolean {
	const value = query.get("desc") ?? "";
	return release.lowerCaseFalse ? value.trim().toLowerCase() !== "false" : value !== "False";
}

export function orderOf<Key>(query: URLSearchParams, keys: ReadonlyMap<string, Key>): Key {
	const by = query.get("orderby") ?? "create_time";
	const key = keys.get(by);
	if (key === undefined) throw exception(`AttributeError("type object 'Document' has no attribute '${by}'")`);
	return key;
}

function whole(query: URLSearchParams, name: string, otherwise: number, least: number): number {
	const text = query.get(name);
	if (text === null) return otherwise;
	const number = /^\d+$/.test(text) ? Number(text) : -1;
	if (number < least || !Number.isSafeInteger(number))
		throw exception(`ValueError("invalid literal for int() with base 10: '${text}'")`);
	return number;
}
