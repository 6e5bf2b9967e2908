import type { IncomingMessage } from "node:http";
import type { Service } from "../answer.ts";
import type { Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { parsePythonJson, pythonStr, pythonType } from "../python.ts";
import { jsonBodyLimit, mediaType, readBody } from "../request-body.ts";
import { Code, exception, Failure } from "./failure.ts";
import { goBody } from "./go-json.ts";

/** One request whose host, path, method and key were checked. */
export type Call = {
	readonly request: IncomingMessage;
	readonly query: URLSearchParams;
	/** the ids of the path as the database compares them; empty where the path has none */
	readonly datasetId: string;
	readonly documentId: string;
	/** the same ids as they were sent, for messages */
	readonly sentDatasetId: string;
	readonly sentDocumentId: string;
	readonly release: Release;
	/** whether the key is the owner's; otherwise it is that of a member of the team */
	readonly isOwner: boolean;
};

/** The bytes of a document, as they were uploaded. */
export type FileAnswer = { readonly bytes: Buffer; readonly name: string };

/** Answers a call with the text of a whole envelope, or with a file, or throws a `Failure`. */
export type Route = (call: Call, service: Service) => Promise<string | FileAnswer>;

/** The members of a JSON object. */
export type Members = { readonly [name: string]: unknown };

/** A body as text and as its JSON value; `undefined` where the release read nothing. */
export type Body = { readonly text: string; readonly value: unknown };

const emptyForm: Body = { text: "{}", value: {} };

/** Reads a body as the release does: earlier ones ignore a body that is not valid. */
export async function readJson(request: IncomingMessage, release: Release): Promise<Body> {
	const bytes = await readBody(request, jsonBodyLimit);
	if (release.body === "or-refused") return goBody(bytes);
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

/**
 * The members of a body that the release validates first: `validate_and_parse_json_request` in
 * api/utils/validation_utils.py, from v0.19 on for datasets, from v0.26 on for removals of documents. In Go,
 * `parseJSONRequestObject` in handler/dataset.go does the same, and takes nothing in place of an object.
 */
export async function validatedMembers({ request, release }: Call): Promise<Members> {
	const bytes = await readBody(request, jsonBodyLimit);
	if (mediaType(request) !== "application/json") {
		const type = request.headers["content-type"] ?? "None";
		throw argumentError(`Unsupported content type: Expected application/json, got ${type}`);
	}
	const { value } = parsedJson(bytes);
	if (value === undefined) throw argumentError("Malformed JSON syntax: Missing commas/brackets or invalid encoding");
	const inGo = release.reads === "as-go";
	const isNothing = value === null || value === "" || value === 0 || value === false;
	if (!inGo && (isNothing || (Array.isArray(value) && value.length === 0))) return {};
	if (isObject(value)) return value;
	const type = inGo && typeof value === "number" ? "float" : pythonType(value);
	throw argumentError(`Invalid request payload: expected object, got ${type}`);
}

/** The value is `undefined` where the bytes are no JSON. */
function parsedJson(bytes: Buffer): Body {
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
		const value = parsePythonJson(text);
		return { text, value };
	} catch {
		return { text: "", value: undefined };
	}
}

/** Throws for members that the server does not know. */
export function refuseUnknown(members: Members, known: ReadonlySet<string>): void {
	const unknown = Object.entries(members).filter(([name]) => !known.has(name));
	if (unknown.length === 0) return;
	const lines = unknown.map(([name, value]) => fieldText(name, "Extra inputs are not permitted", value));
	throw argumentError(lines.join("\n"));
}

export function argumentError(message: string): Failure {
	return new Failure(Code.argument, message);
}

export function fieldError(name: string, message: string, value: unknown): Failure {
	return argumentError(fieldText(name, message, value));
}

/** Characters of a value that a refusal shows, with the dots of a longer one. */
const shownValue = 128;

/** One line of a refusal: the member, the reason, and its value. */
export function fieldText(name: string, message: string, value: unknown): string {
	const text = pythonStr(value);
	const shown = text.length > shownValue ? `${text.slice(0, shownValue - 3)}...` : text;
	return `Field: <${name}> - Message: <${message}> - Value: <${shown}>`;
}
