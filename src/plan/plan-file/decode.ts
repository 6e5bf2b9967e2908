import { parseMembers, type Member } from "../../json/parser.ts";
import { JsonFault, type JsonRules } from "../../json/lexer.ts";
import { parseJson } from "../../json/parse-json.ts";
import {
	DEEPEST_METADATA,
	isJsonArray,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	type Metadata,
} from "../../json/values.ts";
import type { Difference } from "../change.ts";
import { changeLine, footerLine, headerLine, PLAN_VERSION } from "./encode.ts";
import type { PlanCounts, PlanHeader, PlannedChange, PlannedUpdate } from "./planned.ts";

/** A line nests a value of a key that is changed: the line, `change`, the key, then what metadata has. */
const PLAN_JSON: JsonRules = { maxDepth: 3 + DEEPEST_METADATA, maxString: Number.POSITIVE_INFINITY, maxFaults: 0 };
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

/** Undefined where this version would not have written it. */
export function readHeader(text: string): PlanHeader | undefined {
	const { ragtag_plan: version, ragtag, base_url: baseUrl, mode, manifest, created } = asMembers(parsed(text));
	if (version !== PLAN_VERSION || !isText(ragtag) || !isText(baseUrl) || !isText(created)) return undefined;
	if ((mode !== "replace" && mode !== "merge") || !isJsonObject(manifest)) return undefined;
	const { name, sha256, rows } = asMembers(manifest);
	if (!isText(name) || !isHash(sha256) || !isCount(rows)) return undefined;
	const header: PlanHeader = { ragtag, baseUrl, mode, manifest: { name, sha256, rows }, created };
	return headerLine(header) === `${text}\n` ? header : undefined;
}

/** Undefined where this version would not have written it: a repeated key, or an unknown member. */
export function readChange(text: string): PlannedChange | undefined {
	const members = membersOf(text);
	const [line, datasetId, documentId, name, action, was] = [
		"line",
		"dataset_id",
		"document_id",
		"name",
		"action",
		"was",
	].map((member) => members?.get(member)?.value);
	if (members === undefined || !isCount(line) || !isText(datasetId) || !isText(documentId) || !isHash(was))
		return undefined;
	if (name !== undefined && !isText(name)) return undefined;
	const planned = { line, datasetId, documentId, name, was };
	const change = action === "update" ? readUpdate(planned, members) : { ...planned, action: "remove" as const };
	return change !== undefined && changeLine(change) === `${text}\n` ? change : undefined;
}

function readUpdate(
	planned: Omit<PlannedUpdate, "action" | "metadata" | "difference">,
	members: Members,
): PlannedUpdate | undefined {
	const [metadata, add, change, remove] = ["meta_fields", "add", "change", "remove"].map((name) =>
		metadataOf(members.get(name)?.members),
	);
	if (metadata === undefined || add === undefined || change === undefined || remove === undefined) return undefined;
	const changed = new Map<string, { from: JsonValue; to: JsonValue }>();
	for (const [key, value] of change) {
		const { from, to } = asMembers(isJsonObject(value) ? value : undefined);
		if (from === undefined || to === undefined) return undefined;
		changed.set(key, { from, to });
	}
	const difference: Difference = { add, change: changed, remove };
	const hashes = members.get("or_was")?.value;
	const orWas = isJsonArray(hashes) ? hashes.filter(isHash) : undefined;
	return { ...planned, ...(orWas && { orWas }), action: "update", metadata, difference };
}

/** Undefined where the line is not the last one of a plan. */
export function readFooter(text: string): (PlanCounts & { readonly sha256: string }) | undefined {
	const found = FOOTER.exec(text);
	if (found === null) return undefined;
	const [, changes, unchanged, failed, sha256 = ""] = found;
	const counts = { changes: Number(changes), unchanged: Number(unchanged), failed: Number(failed) };
	return footerLine(counts, sha256) === `${text}\n` ? { ...counts, sha256 } : undefined;
}

/** The members of an object in the order of its text, which `JSON.parse` changes for keys that look like numbers. */
function metadataOf(members: Members | undefined): Metadata | undefined {
	return members && new Map(Array.from(members, ([key, { value }]) => [key, value] as const));
}

type Members = ReadonlyMap<string, Member>;

function membersOf(text: string): Members | undefined {
	try {
		return parseMembers(text, PLAN_JSON);
	} catch (error) {
		if (error instanceof JsonFault) return undefined;
		throw error;
	}
}

function asMembers(object: JsonObject | undefined): { readonly [key: string]: JsonValue | undefined } {
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
