import { isJsonArray, type JsonValue, type Metadata } from "../../json/values.ts";
import { isDay } from "../../json/value-types.ts";
import type { Fault } from "../fault.ts";
import { MAX_ID } from "../limits.ts";
import { dateAdvice, isRoundedNumber } from "../mistaken.ts";
import { excerpt } from "../../text/show.ts";
import { urlOf } from "../../text/urls.ts";
import { brokenChange, listSteps } from "../../json/list-change.ts";
import type { ManifestOptions } from "../types.ts";

/** Schemes whose addresses name a host. */
const WITH_HOST = /^(?:https?|wss?|ftps?|sftp|s3|gs|ssh|git):/i;

/** The usual address: its host has no number as its last label and nothing that must be decoded, so any URL parser reads it. */
const PLAIN_ADDRESS = /^https?:\/\/[a-z](?:-?[a-z0-9])*(?:\.[a-z](?:-?[a-z0-9])*)*(?:[/?#][!-~]*)?$/i;

/** A rule for the texts of a key: what is wrong with one, or undefined. */
type ValueRule = { readonly code: string; readonly fault: (text: string) => string | undefined };

/** The built-in checks, by their keys. */
const VALUE_RULES: ReadonlyMap<string, ValueRule> = new Map([
	["publish_date", { code: "BAD_DATE", fault: dateText }],
	["url", { code: "BAD_URL", fault: urlText }],
]);

/** The faults by the built-in checks. `null` passes: it says that there is no value. */
export function valueFaults(metadata: Metadata, deleteToken: string | undefined): Fault[] {
	const faults: Fault[] = [];
	for (const [field, { code, fault }] of VALUE_RULES) {
		const value: JsonValue | undefined = metadata.get(field);
		if (value === undefined || value === null || value === deleteToken) continue;
		const text = typeof value === "string" ? fault(value) : `${excerpt(JSON.stringify(value))} is not a text`;
		if (text === undefined) continue;
		const mend = code === "BAD_DATE" && typeof value === "string" ? dateAdvice(value).mend : undefined;
		faults.push({ field, code, text, ofValue: field, mend });
	}
	return faults;
}

function dateText(text: string): string | undefined {
	if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) {
		return `"${excerpt(text)}" is not a date of the form YYYY-MM-DD${dateAdvice(text).hint}`;
	}
	const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
	if (year > 0 && isDay(year, month, day)) return undefined;
	return `${text} is not a date that exists`;
}

function urlText(text: string): string | undefined {
	if (isAbsolute(text)) return undefined;
	return `"${excerpt(text)}" is not an absolute address such as https://example.org/page`;
}

function isAbsolute(text: string): boolean {
	if (PLAIN_ADDRESS.test(text)) return true;
	// A letter alone is a drive of Windows, and a name before a port is a host without a scheme.
	if (/\s|\p{Cc}/u.test(text) || !/^[a-z][a-z0-9+.-]+:/i.test(text) || /^[^/?#]+:[0-9]+(?:[/?#]|$)/.test(text))
		return false;
	if (WITH_HOST.test(text) && !/^[^:]+:\/\/[^/?#]/.test(text)) return false;
	return urlOf(text) !== undefined;
}

/**
 * The fault of a value that only a merge understands, in a run that replaces. It would be stored literally, and all other
 * keys of its document would be removed. It is no fault if the document has that value already.
 */
export function mergeOnlyFault(
	field: string,
	value: JsonValue,
	mergeOnly: ManifestOptions["mergeOnly"],
): Fault | undefined {
	if (mergeOnly === undefined) return undefined;
	if (value === mergeOnly.token) {
		const text = `"${excerpt(value)}" removes a key only with --mode merge; for that very text say --delete-token TEXT`;
		return { field, code: "MERGE_ONLY", text, ofValue: field };
	}
	if (!mergeOnly.lists || listSteps(value) === undefined) return undefined;
	const text =
		"a list of +item and -item alone changes a list only with --mode merge; for those very items say --delete-token TEXT";
	return { field, code: "MERGE_ONLY", text, ofValue: field };
}

/**
 * The fault of a list that is half a change, in a merge: it would replace the whole list by texts such as `+item`. It is no
 * fault if the document has that list already.
 *
 * @param isJson whether the value is given as JSON: there a list is a change only as a whole, and any other is a value
 */
export function brokenChangeFault(
	field: string,
	value: JsonValue,
	{ deleteToken }: Pick<ManifestOptions, "deleteToken">,
	isJson = false,
): Fault | undefined {
	if (deleteToken === undefined || (isJson && listSteps(value) === undefined)) return undefined;
	const why = brokenChange(textItems(value), deleteToken);
	if (why === undefined) return undefined;
	const end = isJson ? "" : `, or the whole list as JSON in ${excerpt(field)}:json, where a text may begin with a sign`;
	return { field, code: "MIXED_LIST", text: `${why}; write each item as +item or -item${end}`, ofValue: field };
}

/** The items of a list that are texts; none for another value. */
function textItems(value: JsonValue): readonly string[] {
	return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
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
