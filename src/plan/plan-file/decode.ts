import * as v from "valibot";
import { JsonFault, type JsonRules } from "../../json/lexer.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { parseMembers } from "../../json/parser.ts";
import { DEEPEST_METADATA, type JsonValue, type Metadata } from "../../json/values.ts";
import { changeLine, footerLine, headerLine, PLAN_VERSION } from "./encode.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "./planned.ts";

/** A line nests a value of a key that is changed: the line, `change`, the key, then what metadata has. */
const PLAN_JSON: JsonRules = { maxDepth: 3 + DEEPEST_METADATA, maxString: Number.POSITIVE_INFINITY, maxFaults: 0 };
const FOOTER = /^\{"changes":(\d+),"unchanged":(\d+),"failed":(\d+),"sha256":"([0-9a-f]{64})"\}$/;

const TEXT = v.string();
const HASH = v.pipe(TEXT, v.regex(/^[0-9a-f]{64}$/));
const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const METADATA = v.custom<Metadata>((value) => value instanceof Map);
const VALUE = v.custom<JsonValue>((value) => value !== undefined);

const HEADER = v.object({
	ragtag_plan: v.literal(PLAN_VERSION),
	ragtag: TEXT,
	base_url: TEXT,
	mode: v.picklist(["replace", "merge"]),
	manifest: v.object({ name: TEXT, sha256: HASH, rows: COUNT }),
	created: TEXT,
	sync: v.optional(
		v.object({ root: TEXT, device: v.number(), dataset_id: TEXT, state: TEXT, was: TEXT, untagged: v.boolean() }),
	),
});

const PLANNED = { line: COUNT, dataset_id: TEXT, document_id: TEXT, name: v.optional(TEXT) };
const CHANGE = v.variant("action", [
	v.object({ ...PLANNED, action: v.literal("remove"), was: HASH, path: v.optional(TEXT) }),
	v.object({ ...PLANNED, action: v.literal("fail"), path: TEXT, code: TEXT, text: TEXT }),
	v.object({
		...PLANNED,
		action: v.picklist(["upload", "replace", "rename", "keep"]),
		name: TEXT,
		from: v.optional(TEXT),
		from_path: v.optional(TEXT),
		was: v.optional(HASH),
		path: TEXT,
		size: COUNT,
		mtime: v.number(),
		ino: v.number(),
		sha256: HASH,
		at: v.optional(TEXT),
		meta_fields: METADATA,
	}),
	v.object({
		...PLANNED,
		was: HASH,
		action: v.literal("update"),
		or_was: v.optional(v.array(HASH)),
		meta_fields: METADATA,
		add: METADATA,
		change: v.map(TEXT, v.object({ from: VALUE, to: VALUE })),
		remove: METADATA,
	}),
]);

/** Undefined where this version would not have written it. @param text a line without its end, here and below */
export function readHeader(text: string): PlanHeader | undefined {
	const read = v.safeParse(HEADER, jsonObjectOf(text));
	if (!read.success) return undefined;
	const { ragtag, base_url: baseUrl, mode, manifest, created, sync: target } = read.output;
	const sync = target && {
		root: target.root,
		device: target.device,
		datasetId: target.dataset_id,
		state: target.state,
		was: target.was,
		isUntagged: target.untagged,
	};
	const header: PlanHeader = { ragtag, baseUrl, mode, manifest, created, sync };
	return headerLine(header) === `${text}\n` ? header : undefined;
}

/** Undefined where this version would not have written it: a repeated key, or an unknown member. */
export function readChange(text: string): PlannedChange | undefined {
	const read = v.safeParse(CHANGE, membersOf(text));
	if (!read.success) return undefined;
	const planned = plannedOf(read.output);
	return changeLine(planned) === `${text}\n` ? planned : undefined;
}

function plannedOf(read: v.InferOutput<typeof CHANGE>): PlannedChange {
	const { line, dataset_id: datasetId, document_id: documentId, name } = read;
	const common = { line, datasetId, documentId, name };
	switch (read.action) {
		case "remove":
			return { ...common, action: read.action, was: read.was, path: read.path };
		case "fail":
			return { ...common, action: read.action, path: read.path, code: read.code, text: read.text };
		case "update": {
			const { was, or_was: orWas, meta_fields: metadata, add, change, remove } = read;
			return { ...common, action: read.action, was, orWas, metadata, difference: { add, change, remove } };
		}
		case "upload":
		case "replace":
		case "rename":
		case "keep": {
			const {
				action,
				from,
				from_path: fromPath,
				was,
				path,
				size,
				mtime,
				ino,
				sha256,
				at,
				meta_fields: metadata,
			} = read;
			const file = { path, size, mtime, ino, sha256, at };
			return { ...common, name: read.name, action, from, fromPath, was, file, metadata };
		}
	}
}

/** Undefined where the line is not the last one of a plan. */
export function readFooter(text: string): (PlanCounts & { readonly sha256: string }) | undefined {
	const found = FOOTER.exec(text);
	if (found === null) return undefined;
	const [, changes, unchanged, failed, sha256 = ""] = found;
	const counts = { changes: Number(changes), unchanged: Number(unchanged), failed: Number(failed) };
	return footerLine(counts, sha256) === `${text}\n` ? { ...counts, sha256 } : undefined;
}

/** The members of a line. Objects are maps in the order of its text, which `JSON.parse` changes for keys like numbers. */
function membersOf(text: string): object | undefined {
	try {
		const members = Array.from(parseMembers(text, PLAN_JSON), ([name, { value, members: inner }]) => {
			return [name, inner ? new Map(Array.from(inner, ([key, each]) => [key, each.value])) : value] as const;
		});
		return Object.fromEntries(members);
	} catch (error) {
		if (error instanceof JsonFault) return undefined;
		throw error;
	}
}
