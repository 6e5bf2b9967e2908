import { hasHalfPair, isJsonObject, type JsonValue, type Metadata } from "../../json/values.ts";
import { MAX_ID } from "../limits.ts";
import type { Fault } from "../fault.ts";
import { isRoundedNumber } from "../mistaken.ts";
import { excerpt } from "../../text/show.ts";

/**
 * A text that is equal for equal metadata and different for different.
 *
 * @param inOrder whether equal rows have their keys in the same order anyway, as the columns of CSV do
 */
export function payloadText(metadata: Metadata, inOrder: boolean): string {
	let text = "";
	if (inOrder) for (const [key, value] of metadata) text += part(key, value);
	else for (const key of Array.from(metadata.keys()).toSorted()) text += part(key, metadata.get(key) ?? null);
	return text;
}

/** Each text follows its length, so that no value can be mistaken for the next key. */
function part(key: string, value: JsonValue): string {
	// Hashed, half a surrogate pair would be the same as any other half.
	if (hasHalfPair(key)) return part(JSON.stringify(key), value);
	if (typeof value === "string" && !hasHalfPair(value)) return `${key.length}:${key}t${value.length}:${value}`;
	const text = valueText(value);
	return `${key.length}:${key}j${text.length}:${text}`;
}

/** A text that is equal for equal values and different for different, whatever the order of members. */
export function valueText(value: JsonValue): string {
	return JSON.stringify(canonical(value));
}

function canonical(value: JsonValue): JsonValue {
	if (Array.isArray(value)) return value.map(canonical);
	if (!isJsonObject(value)) return value;
	const members = Object.keys(value).toSorted();
	return { members: members.map((key) => [key, canonical(value[key] ?? null)]) };
}

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Surrogate}/u;

/** The fault of a text that can't be an id, which becomes a segment of an address. Undefined if there is none. */
export function idFault(field: string, id: string): Fault | undefined {
	const text = idText(id);
	return text === undefined ? undefined : { field, code: "BAD_ID", text };
}

function idText(id: string): string | undefined {
	if (id === "") return "is empty";
	// Nearly every id is one of these, and needs no further check.
	if (/^[\w-]{1,256}$/.test(id)) return undefined;
	if (id.trim() === "") return "is nothing but white space";
	if (id.trim() !== id) return `"${excerpt(id)}" begins or ends with white space`;
	if (id === "." || id === "..") return `"${id}" names a folder, not an id`;
	if (isRoundedNumber(id)) {
		return `"${excerpt(id)}" is an id that a spreadsheet has rounded: import the column as text, or save it as text`;
	}
	if (CONTROL.test(id)) return `"${excerpt(id)}" holds a control character`;
	if (SURROGATE.test(id)) return `"${excerpt(id)}" holds half a surrogate pair`;
	if (id.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
	return undefined;
}
