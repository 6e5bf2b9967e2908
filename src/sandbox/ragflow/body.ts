import type { IncomingMessage } from "node:http";
import { mediaType, readBody } from "../body.ts";
import type { Release } from "../flavours/release.ts";
import { isObject } from "../object.ts";
import { jsonBodyLimit } from "../settings.ts";
import { parsePythonJson } from "../python-json.ts";
import { exception } from "./failure.ts";

/** A body as text and as the JSON value that it is; `undefined` where the release took nothing from it. */
export type Body = { readonly text: string; readonly value: unknown };

const emptyForm: Body = { text: "{}", value: {} };

/** Reads a body as the release does: most take what they can get, and mistake what they can't read for nothing. */
export async function readJson(request: IncomingMessage, release: Release): Promise<Body> {
	const bytes = await readBody(request, jsonBodyLimit);
	const { text, value } = parsedJson(bytes);
	const body: Body = { text, value: value ?? undefined };
	if (release.body === "any-header") return body;
	if (release.body === "or-form") return body.value === undefined ? emptyForm : body;
	if (bytes.length === 0) return emptyForm;
	if (mediaType(request) !== "application/json")
		throw exception("TypeError('Request body is not a valid form payload.')");
	if (body.value === undefined) throw exception("<BadRequest '400: Bad Request'>");
	if (typeof body.value === "string") throw exception("AttributeError(\"'str' object has no attribute 'get'\")");
	if (!isObject(body.value)) throw exception("TypeError('JSON payload must be an object.')");
	return body;
}

/** What cannot be read is `undefined`. */
export function parsedJson(bytes: Buffer): Body {
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
		const value = parsePythonJson(text);
		return { text, value };
	} catch {
		return { text: "", value: undefined };
	}
}
