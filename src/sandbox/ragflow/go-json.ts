import { isObject } from "../json-text.ts";
import { Code, Failure } from "./failure.ts";

/** How releases in Go read JSON: by `encoding/json`, with its words for what it can't read. */

/** A body as the members of an object; null has none. */
export function goBody(bytes: Buffer): { readonly text: string; readonly value: unknown } {
	// Bytes that are no UTF-8 become replacement characters.
	const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
	const value = goJson(text);
	if (value === null) return { text: "{}", value: {} };
	if (!isObject(value)) throw unreadable(`json: cannot unmarshal ${kindOf(value)} into Go value of type map[string]`);
	return { text, value };
}

function goJson(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return value;
	} catch {
		if (text.trim() === "") throw unreadable("unexpected end of JSON input");
		// The first line of a multipart body begins with two of them.
		if (/^\s*-[^\d]/.test(text)) throw unreadable("invalid character '-' in numeric literal");
		throw unreadable("invalid character: the body is not JSON");
	}
}

/** The refusal of a member of another type. */
export function unfitMember(name: string, value: unknown, type: string): Failure {
	return unreadable(`json: cannot unmarshal ${kindOf(value)} into Go struct field .${name} of type ${type}`);
}

function kindOf(value: unknown): string {
	if (Array.isArray(value)) return "array";
	return typeof value === "boolean" ? "bool" : typeof value;
}

function unreadable(message: string): Failure {
	return new Failure(Code.data, message, { data: "null" });
}

/** A value as it is written again: numbers are doubles, and half a pair of surrogates is a replacement character. */
export function goValueText(raw: string): string {
	const value: unknown = JSON.parse(raw);
	return JSON.stringify(value, (_, member: unknown) => (typeof member === "string" ? wellFormed(member) : member));
}

export function wellFormed(text: string): string {
	return Buffer.from(text).toString();
}

/** `strings.TrimSpace`, by `unicode.IsSpace`. */
export function goTrim(text: string): string {
	return text.replace(/^[\t-\r \u0085\p{Z}]+|[\t-\r \u0085\p{Z}]+$/gu, "");
}
