import { isJsonObject, type JsonObject, type JsonValue, type Metadata, parseJson } from "../../json/values.ts";
import type { Difference } from "../change.ts";
import { changeLine, footerLine, headerLine, PLAN_VERSION } from "./encode.ts";
import type { PlanCounts, PlanHeader, PlannedChange, PlannedUpdate } from "./planned.ts";

const SHA256 = /^[0-9a-f]{64}$/;
const FOOTER = /^\{"changes":(\d+),"unchanged":(\d+),"failed":(\d+),"sha256":"([0-9a-f]{64})"\}$/;

/**
 * The version of the format that a first line says; undefined where it is none of a plan.
 *
 * @param text a line without its end, here and below
 */
export function planVersion(text: string): number | undefined {
	const version = parsed(text)?.["ragtag_plan"];
	return typeof version === "number" ? version : undefined;
}

/** Undefined where this version would not have written that. */
export function readHeader(text: string): PlanHeader | undefined {
	const { ragtag_plan: version, ragtag, base_url: baseUrl, mode, manifest, created } = asMembers(parsed(text));
	if (version !== PLAN_VERSION || !isText(ragtag) || !isText(baseUrl) || !isText(created)) return undefined;
	if ((mode !== "replace" && mode !== "merge") || !isJsonObject(manifest)) return undefined;
	const { name, sha256, rows } = asMembers(manifest);
	if (!isText(name) || !isHash(sha256) || !isCount(rows)) return undefined;
	const header: PlanHeader = { ragtag, baseUrl, mode, manifest: { name, sha256, rows }, created };
	return headerLine(header) === `${text}\n` ? header : undefined;
}

/** Undefined where this version would not have written that: a key that stands twice, a member that it does not know. */
export function readChange(text: string): PlannedChange | undefined {
	const object = parsed(text);
	const { line, dataset_id: datasetId, document_id: documentId, action, was } = asMembers(object);
	if (!isCount(line) || !isText(datasetId) || !isText(documentId) || !isHash(was)) return undefined;
	const planned = { line, datasetId, documentId, was };
	const change = action === "update" ? readUpdate(planned, membersOf(text)) : { ...planned, action: "remove" as const };
	return change !== undefined && changeLine(change) === `${text}\n` ? change : undefined;
}

function readUpdate(
	planned: Omit<PlannedUpdate, "action" | "metadata" | "difference">,
	members: ReadonlyMap<string, string>,
): PlannedUpdate | undefined {
	const [metadata, add, change, remove] = ["meta_fields", "add", "change", "remove"].map((name) =>
		metadataIn(members.get(name)),
	);
	if (metadata === undefined || add === undefined || change === undefined || remove === undefined) return undefined;
	const changed = new Map<string, { from: JsonValue; to: JsonValue }>();
	for (const [key, value] of change) {
		const { from, to } = asMembers(isJsonObject(value) ? value : undefined);
		if (from === undefined || to === undefined) return undefined;
		changed.set(key, { from, to });
	}
	const difference: Difference = { add, change: changed, remove };
	return { ...planned, action: "update", metadata, difference };
}

/** Undefined where the line is not the last one of a plan. */
export function readFooter(text: string): (PlanCounts & { readonly sha256: string }) | undefined {
	const found = FOOTER.exec(text);
	if (found === null) return undefined;
	const [, changes, unchanged, failed, sha256 = ""] = found;
	const counts = { changes: Number(changes), unchanged: Number(unchanged), failed: Number(failed) };
	return footerLine(counts, sha256) === `${text}\n` ? { ...counts, sha256 } : undefined;
}

function metadataIn(text: string | undefined): Metadata | undefined {
	if (text === undefined || !text.startsWith("{")) return undefined;
	return new Map(Array.from(membersOf(text), ([key, value]) => [key, parseJson(value)] as const));
}

type Members = { readonly [key: string]: JsonValue | undefined };

function asMembers(object: JsonObject | undefined): Members {
	return object ?? {};
}

function isText(value: JsonValue | undefined): value is string {
	return typeof value === "string";
}

function isHash(value: JsonValue | undefined): value is string {
	return isText(value) && SHA256.test(value);
}

function isCount(value: JsonValue | undefined): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function parsed(text: string): JsonObject | undefined {
	try {
		const value = parseJson(text);
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const OPENING: ReadonlySet<number> = new Set(["{", "["].map((character) => character.charCodeAt(0)));
const CLOSING: ReadonlySet<number> = new Set(["}", "]"].map((character) => character.charCodeAt(0)));
const COMMA = ",".charCodeAt(0);
const COLON = ":".charCodeAt(0);

/**
 * The members of a JSON object in the order of its text, each value as its text: `JSON.parse` puts keys that look like
 * numbers first.
 *
 * @param text an object that `JSON.parse` takes
 */
export function membersOf(text: string): ReadonlyMap<string, string> {
	const members = new Map<string, string>();
	let depth = 0;
	let start = 0;
	let key: string | undefined;
	for (let at = 0; at < text.length; at++) {
		const character = text.charCodeAt(at);
		if (character === QUOTE) at = endOfText(text, at);
		else if (OPENING.has(character)) {
			depth += 1;
			if (depth === 1) start = at + 1;
		} else if (character === COLON && depth === 1) {
			key = String(JSON.parse(text.slice(start, at)));
			start = at + 1;
		} else if (CLOSING.has(character) || (character === COMMA && depth === 1)) {
			if (character !== COMMA) depth -= 1;
			if (character !== COMMA && depth > 0) continue;
			if (key !== undefined) members.set(key, text.slice(start, at));
			key = undefined;
			start = at + 1;
		}
	}
	return members;
}

/** Where the closing quote is of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
	let end = text.indexOf('"', start + 1);
	while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
	return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
	let first = at;
	while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
	return (at - first) % 2 === 1;
}
