import { Refusal } from "./envelope.ts";
import { defaultPageSize, type Settings } from "./settings.ts";

export type Window = { readonly limit: number; readonly offset: number };

/** The part of a list that `page` and `page_size` ask for. */
export function windowOf(query: URLSearchParams, settings: Settings): Window {
	const page = positive(query, "page") ?? 1;
	let limit = positive(query, "page_size") ?? Math.min(defaultPageSize, settings.pageSizeLimit);
	if (limit > settings.pageSizeLimit) {
		if (settings.onLargePage === "error") throw new Refusal(400, `page_size is over ${settings.pageSizeLimit}`);
		limit = settings.pageSizeLimit;
	}
	const offset = (page - 1) * limit;
	if (!Number.isSafeInteger(offset)) throw new Refusal(400, "page is too large");
	return { limit, offset };
}

/** A filter's text; an empty one is refused, because "no document" and "all documents" are both fair readings of it. */
export function filterOf(query: URLSearchParams, name: string): string | undefined {
	const value = query.get(name) ?? undefined;
	if (value === "") throw new Refusal(400, `${name} is empty`);
	return value;
}

/** A switch of the query, in any case: deployed servers are sent `False`. */
export function flagOf(query: URLSearchParams, name: string): boolean {
	const value = query.get(name)?.toLowerCase() ?? "false";
	if (value !== "true" && value !== "false") throw new Refusal(400, `${name} is neither true nor false`);
	return value === "true";
}

function positive(query: URLSearchParams, name: string): number | undefined {
	const text = query.get(name);
	if (text === null) return undefined;
	const number = /^\d+$/.test(text) ? Number(text) : 0;
	if (number < 1 || !Number.isSafeInteger(number)) throw new Refusal(400, `${name} is not a whole number from 1 on`);
	return number;
}
