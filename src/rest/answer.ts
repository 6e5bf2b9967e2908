import { isUtf8 } from "node:buffer";
import { looseNames, parseLoosely } from "../json/parse-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/values.ts";

/** A complete answer as it came. */
export type RawAnswer = { readonly status: number; readonly headers: RawHeaders; readonly bytes: Buffer };

/** A complete answer. */
export type Answer = {
	readonly status: number;
	readonly headers: RawHeaders;
	/** undefined if the body is not UTF-8 */
	readonly text: string | undefined;
	/** the envelope in its text, or a few words that say why there is none */
	readonly envelope: ParsedEnvelope | string;
};

/** The header fields of an answer as they came: names and values in turn. They are read only if the answer is no success. */
export type RawHeaders = readonly (Buffer | string)[];

/** The parts of an answer's JSON object that every call reads. */
export type ParsedEnvelope = {
	readonly code: number;
	readonly message: string | undefined;
	readonly data: JsonValue | undefined;
	readonly whole: JsonObject;
	/** the JSON text that was parsed */
	readonly text: string;
};

/** An answer with its text, and the envelope in it. */
export function decoded({ status, headers, bytes }: RawAnswer): Answer {
	const text = isUtf8(bytes) ? bytes.toString() : undefined;
	return { status, headers, text, envelope: readEnvelope(text) };
}

/** Every value of a header field, in the order in which they came. */
export function headerValues(headers: RawHeaders, name: string): string[] {
	const values: string[] = [];
	for (let at = 0; at + 1 < headers.length; at += 2) {
		if (textOf(headers[at]).toLowerCase() === name) values.push(textOf(headers[at + 1]));
	}
	return values;
}

function textOf(field: Buffer | string | undefined): string {
	return typeof field === "string" ? field : (field?.toString("latin1") ?? "");
}

/** The envelope in an answer's text, or a few words that say why there is none. */
function readEnvelope(answer: string | undefined): ParsedEnvelope | string {
	if (answer === undefined) return "an answer that is not UTF-8 text";
	if (answer.trim() === "") return "an empty answer";
	// Some servers begin with a byte order mark.
	const text = answer.charCodeAt(0) === 0xfeff ? answer.slice(1) : answer;
	const value = parseLoosely(text);
	if (value === undefined) return "an answer that is no complete JSON";
	if (!isJsonObject(value)) return "JSON that is no object";
	const { code, message, data } = value as { readonly [key: string]: JsonValue | undefined };
	if (typeof code !== "number" || !Number.isInteger(code)) return "JSON without a numeric code";
	if (hasSecondCode(text)) return "JSON with two codes";
	return { code, message: typeof message === "string" ? message : undefined, data, whole: value, text };
}

/**
 * Whether valid JSON has two members `code` at its top level. A parser keeps one of them, and another parser on the way
 * may have kept the other.
 */
function hasSecondCode(text: string): boolean {
	// Nearly every answer ends here: one spelling of the name, and no escape that could hide another.
	if (text.indexOf('"code"') === text.lastIndexOf('"code"') && !text.includes("\\u")) return false;
	return looseNames(text).filter((name) => name === "code").length > 1;
}
