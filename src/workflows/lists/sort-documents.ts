import type { JsonValue } from "../../json/values.ts";
import { valueText } from "../../plan/condition.ts";
import type { Document } from "../../rest/types.ts";
import { documentMembers } from "./document-table.ts";

/** The order of a list: a member of a document or a metadata key, from the smallest value or from the largest. */
export type SortOrder = { readonly field: string; readonly descending: boolean };

/** Documents that are held beyond a limit before they are sorted and cut: sorting more seldom is cheaper. */
const HELD_BEYOND_LIMIT = 1_000;

/**
 * All documents in an order. Numbers come before texts and are compared by value, texts by their characters. Documents
 * without the field come last, whatever the direction, and equal ones keep the order of the list.
 *
 * @param limit documents that are needed; memory holds all of them otherwise
 */
export async function* sortedDocuments(
	documents: AsyncIterable<Document>,
	{ field, descending }: SortOrder,
	limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Document> {
	const sorted = (some: readonly Document[]): Document[] =>
		some
			.map((document) => ({ document, value: sortValue(document, field) }))
			.toSorted((one, other) => compareValues(one.value, other.value, descending))
			.map(({ document }) => document);
	let held: Document[] = [];
	for await (const document of documents) {
		held.push(document);
		if (held.length >= 2 * limit + HELD_BEYOND_LIMIT) held = sorted(held).slice(0, limit);
	}
	yield* sorted(held);
}

/** The first documents. The rest is not read. */
export async function* firstOf(documents: AsyncIterable<Document>, limit: number): AsyncGenerator<Document> {
	let count = 0;
	for await (const document of documents) {
		yield document;
		count += 1;
		if (count >= limit) return;
	}
}

/** Documents that are held back at most: memory must not grow with the dataset. */
const MOST_HELD = 10_000;

/**
 * Holds documents back until `isReady`. Where the list ends in an error before that, nothing of it is printed, unless it is
 * longer than what is held.
 */
export async function* heldUntil(documents: AsyncIterable<Document>, isReady: () => boolean): AsyncGenerator<Document> {
	let held: Document[] | undefined = [];
	for await (const document of documents) {
		if (held === undefined) yield document;
		else if (held.push(document) >= MOST_HELD || isReady()) {
			yield* held;
			held = undefined;
		}
	}
	if (held !== undefined) yield* held;
}

function sortValue(document: Document, field: string): number | string | undefined {
	const member = documentMembers.get(field);
	const value: JsonValue | undefined = member === undefined ? document.metadata?.get(field) : member(document);
	return typeof value === "number" || value === undefined ? value : valueText(value);
}

function compareValues(
	one: number | string | undefined,
	other: number | string | undefined,
	descending: boolean,
): number {
	if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
	return (descending ? -1 : 1) * compareGiven(one, other);
}

function compareGiven(one: number | string, other: number | string): number {
	if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
	return one < other ? -1 : one > other ? 1 : 0;
}
