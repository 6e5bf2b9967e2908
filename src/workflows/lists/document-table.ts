import { isJsonArray, isJsonObject, type JsonValue, type Metadata, metadataText } from "../../json/values.ts";
import { valueText } from "../../plan/condition.ts";
import type { Document } from "../../rest/types.ts";
import { localTimeText, sizeText, TIME_WIDTH } from "../../text/words.ts";
import type { ListColumn } from "./list-output.ts";
import { isNotJson } from "../../json/parse-json.ts";

/** Keys that have a column of their own. */
const MOST_KEYS = 10;

/** Widths that a long name and a long value keep at least, as long as there are columns to leave out. */
const NAME_READABLE = 20;
/** Most names of files are shorter. */
const NAME_PREFERRED = 64;
const VALUE_READABLE = 10;

/** A text that names its zone, such as an HTTP date or an ISO time: others may mean any zone. */
const ZONED = /^\S.*\d.*(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/;

/**
 * The columns of a table of documents: the name, the keys that most of the first documents have, size, time, and the id.
 *
 * On a narrow terminal the time goes first, then the size, then the rarest keys. The id stays whole: it is typed into the
 * next command. The name gets what the id leaves: cut names do not show which document is meant.
 */
export function documentTable(first: readonly Document[]): readonly ListColumn<Document>[] {
	const hasSize = first.some(({ size }) => size !== undefined);
	const hasTime = first.some(({ createTime }) => createTime !== undefined);
	const keys = commonestKeys(first).map((key, at) => ({ ...keyColumn(key), spare: at }));
	return [
		documentColumn("name"),
		...keys,
		...(hasSize ? [{ ...documentColumn("size"), spare: MOST_KEYS }] : []),
		...(hasTime ? [{ ...documentColumn("create_time"), spare: MOST_KEYS + 1 }] : []),
		documentColumn("document_id"),
	];
}

/** The keys of most documents, the commonest first; equally common ones in the order in which they are met. */
function commonestKeys(documents: readonly Document[]): string[] {
	const counts = new Map<string, number>();
	for (const { metadata } of documents) {
		for (const key of metadata?.keys() ?? []) counts.set(key, (counts.get(key) ?? 0) + 1);
	}
	const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
	return sorted.slice(0, MOST_KEYS).map(([key]) => key);
}

/** The column of a field: a member of a document, its whole metadata, or a metadata key. */
export function documentColumn(field: string): ListColumn<Document> {
	const member = documentMembers.get(field);
	if (member === undefined && field !== "meta_fields") return keyColumn(field);
	const cell = member === undefined ? metadataJson : (document: Document): string => String(member(document) ?? "");
	return { name: field, cell, ...IN_TABLES.get(field) };
}

/** How fields stand in a table. */
const IN_TABLES: ReadonlyMap<string, Omit<ListColumn<Document>, "name" | "cell">> = new Map([
	["name", { readable: NAME_READABLE, preferred: NAME_PREFERRED }],
	["size", { inTable: ({ size }: Document) => (size === undefined ? "" : sizeText(size)) }],
	["create_time", { inTable: ({ createTime }: Document) => timeCell(createTime), readable: TIME_WIDTH }],
	["meta_fields", { inTable: metadataCell, readable: NAME_READABLE }],
	["document_id", { isTyped: true }],
	["dataset_id", { isTyped: true }],
]);

function keyColumn(key: string): ListColumn<Document> {
	return {
		name: key,
		cell: ({ metadata, inexact }) => inexact?.get(key) ?? valueText(metadata?.get(key)),
		inTable: (document) => valueCell(document, key),
		readable: VALUE_READABLE,
	};
}

function metadataJson({ metadata, inexact }: Document): string {
	return metadata === undefined ? "" : metadataText(metadata, inexact);
}

function metadataCell(document: Document): string {
	const keys = [...(document.metadata?.keys() ?? [])];
	return keys.map((key) => `${key}: ${valueCell(document, key)}`).join(", ");
}

/** A value as short text. One that came rounded stands as the service gave it. */
function valueCell({ metadata, inexact }: Document, key: string): string {
	return inexact?.get(key) ?? shortText(metadata?.get(key));
}

/** Lists as `a, b` and objects as `key: value`; only what stands inside those needs brackets. */
function shortText(value: JsonValue | undefined): string {
	if (isJsonArray(value)) return value.map(valueText).join(", ");
	if (!isJsonObject(value)) return valueText(value);
	return Object.entries(value)
		.map(([key, each]) => `${key}: ${valueText(each)}`)
		.join(", ");
}

/** A time as a table shows it. */
export function timeCell(time: Document["createTime"]): string {
	if (time === undefined) return "";
	const date = typeof time === "number" || ZONED.test(time) ? new Date(time) : undefined;
	return date === undefined || Number.isNaN(date.getTime()) ? String(time) : localTimeText(date);
}

/** Columns of a list of documents where `--fields` says nothing. */
export const defaultFields: readonly string[] = ["document_id", "name", "size", "create_time", "meta_fields"];

type Member = (document: Document) => string | number | undefined;

/** Members that JSON always has, and members that are printed only where `--fields` names them. */
const ALWAYS: ReadonlySet<string> = new Set(["dataset_id", "document_id", "name", "size", "create_time"]);

/** Members of a document that are no metadata. */
export const documentMembers: ReadonlyMap<string, Member> = new Map<string, Member>([
	["dataset_id", ({ datasetId }: Document) => datasetId],
	["document_id", ({ id }: Document) => id],
	["name", ({ name }: Document) => name],
	["size", ({ size }: Document) => size],
	["create_time", ({ createTime }: Document) => createTime],
	["run", ({ parsing }) => parsing?.run],
	["progress", ({ parsing }) => parsing?.progress],
	["chunk_count", ({ parsing }) => parsing?.chunkCount],
]);

/**
 * The JSON text of a document, with `fields` only what they name. Text, so that metadata keeps the order of its keys.
 *
 * Keys whose values are no JSON stand beside `meta_fields` in `not_json`, with the text of each value: no JSON can hold
 * them, and a manifest that has this member is refused rather than written back without them.
 */
export function documentJson(document: Document, fields: readonly string[] | undefined): string {
	const parts: string[] = [];
	for (const [name, member] of documentMembers) {
		if (fields === undefined ? ALWAYS.has(name) : fields.includes(name)) {
			parts.push(`${JSON.stringify(name)}:${JSON.stringify(member(document) ?? null)}`);
		}
	}
	const metadata: Metadata = document.metadata ?? new Map();
	const whole = fields === undefined || fields.includes("meta_fields");
	const shown = whole ? metadata : new Map([...metadata].filter(([key]) => fields.includes(key)));
	const named = fields?.some((field) => !documentMembers.has(field)) ?? true;
	if (named) {
		const apart = [...(document.inexact ?? [])].filter(([key, text]) => shown.has(key) && isNotJson(text));
		const keys = new Set(apart.map(([key]) => key));
		const rest = keys.size === 0 ? shown : new Map([...shown].filter(([key]) => !keys.has(key)));
		parts.push(`"meta_fields":${metadataText(rest, document.inexact)}`);
		if (keys.size > 0) parts.push(`"not_json":${metadataText(new Map(apart))}`);
	}
	return `{${parts.join(",")}}`;
}

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
	const byType = Number(typeof one === "string") - Number(typeof other === "string");
	return (descending ? -1 : 1) * (byType || (one < other ? -1 : Number(one > other)));
}
