import type { IncomingMessage } from "node:http";
import { mediaType, readBody } from "../body.ts";
import { isObject } from "../object.ts";
import { jsonBodyLimit } from "../settings.ts";
import { Code, Failure } from "./failure.ts";
import { parsedJson } from "./body.ts";
import { pythonText, pythonType } from "../python.ts";

/** Characters of a value that a refusal shows, and what it shows of a longer one. */
const shownValue = 128;

/**
 * The members of a body that is checked before anything is done with it: `validate_and_parse_json_request` in
 * api/utils/validation_utils.py, from v0.19 on for datasets, from v0.26 on for removals of documents.
 */
export async function checkedMembers(request: IncomingMessage): Promise<{ readonly [name: string]: unknown }> {
	const bytes = await readBody(request, jsonBodyLimit);
	if (mediaType(request) !== "application/json") {
		const type = request.headers["content-type"] ?? "None";
		throw argument(`Unsupported content type: Expected application/json, got ${type}`);
	}
	const { value } = parsedJson(bytes);
	if (value === undefined) throw argument("Malformed JSON syntax: Missing commas/brackets or invalid encoding");
	const payload = value === null || value === "" || value === 0 || value === false ? {} : value;
	if (Array.isArray(payload) && payload.length === 0) return {};
	if (!isObject(payload)) throw argument(`Invalid request payload: expected object, got ${pythonType(payload)}`);
	return payload;
}

/** Throws for members that the server does not know. */
export function refuseExtra(members: { readonly [name: string]: unknown }, known: ReadonlySet<string>): void {
	const extra = Object.entries(members).filter(([name]) => !known.has(name));
	if (extra.length === 0) return;
	throw argument(extra.map(([name, value]) => fieldText(name, "Extra inputs are not permitted", value)).join("\n"));
}

export function argument(message: string): Failure {
	return new Failure(Code.argument, message);
}

export function field(name: string, message: string, value: unknown): Failure {
	return argument(fieldText(name, message, value));
}

/** One line of a refusal: which member, why, and what it was. */
export function fieldText(name: string, message: string, value: unknown): string {
	const text = pythonText(value);
	const shown = text.length > shownValue ? `${text.slice(0, shownValue - 3)}...` : text;
	return `Field: <${name}> - Message: <${message}> - Value: <${shown}>`;
}
