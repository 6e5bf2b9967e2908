import { createHash } from "node:crypto";
import * as v from "valibot";
import { JsonFault, type JsonRules } from "../../json/lexer.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { parseMembers } from "../../json/parser.ts";
import { DEEPEST_METADATA, type JsonValue, type Metadata } from "../../json/values.ts";
import { footerLine, PLAN_VERSION } from "./encode.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "./planned.ts";

/** A fault of a plan: a predicate of "the plan", and its line if that is known. */
export class PlanFault extends Error {
	readonly line: number | undefined;

	constructor(text: string, line?: number) {
		super(text);
		this.line = line;
	}
}

/** A plan without its changes. */
export type CheckedPlan = { readonly header: PlanHeader; readonly counts: PlanCounts };

const LINE_END = "\n";

/** The beginning of a plan of any version, and of its last line. */
const BEGINNING = '{"ragtag_plan":';
const END = '{"changes":';

/** Reads a plan line by line. */
export type PlanCheck = ReturnType<typeof planCheck>;

/**
 * Reads a plan line by line, and checks at its end that it is unchanged and complete.
 *
 * @param actions the actions that are allowed: `docs apply` must not remove documents
 */
export function planCheck(actions: readonly PlannedChange["action"][]) {
	const hash = createHash("sha256");
	let lines = 0;
	let changes = 0;
	let header: PlanHeader | undefined;
	let counts: PlanCounts | undefined;

	const fault = (text: string): PlanFault => new PlanFault(text, lines);
	const cut = (): PlanFault => fault("was cut: it ends before its last line, which counts the others");
	const first = (text: string, isEnded: boolean): PlanHeader => {
		if (!text.startsWith(BEGINNING)) throw fault("was not written by ragtag docs plan");
		if (!isEnded) throw cut();
		const version = jsonObjectOf(text)?.["ragtag_plan"];
		if (typeof version === "number" && version > PLAN_VERSION) {
			throw fault(`is of format ${version}, which this version does not know`);
		}
		const read = readHeader(text);
		if (read === undefined) throw fault("was edited: this is not how a plan begins");
		return read;
	};
	const last = (text: string): PlanCounts => {
		const read = v.safeParse(FOOTER, jsonObjectOf(text));
		if (!read.success) throw fault("was edited or cut: this is not how a plan ends");
		const { sha256: _, ...found } = read.output;
		if (found.changes !== changes) {
			throw fault(`was edited or cut: its last line counts ${found.changes} changes, and it has ${changes}`);
		}
		if (footerLine(found, hash) !== `${text}\n`) {
			throw new PlanFault("was edited: its checksum is not that of its lines");
		}
		return found;
	};
	return {
		/**
		 * @param bytes a line without its end
		 * @param isEnded whether the line has an end
		 * @returns the change that the line holds, if it is one
		 * @throws PlanFault
		 */
		line(bytes: Uint8Array, isEnded: boolean): PlannedChange | undefined {
			lines += 1;
			const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
			if (header === undefined) {
				header = first(text, isEnded);
				hash.update(bytes).update(LINE_END);
				return undefined;
			}
			if (counts !== undefined) throw fault("was edited: text follows its last line, which counts the others");
			if (!isEnded) throw cut();
			if (text.startsWith(END)) {
				counts = last(text);
				return undefined;
			}
			const change = readChange(text);
			if (change === undefined) throw fault("was edited or cut: this is not a line of a plan");
			if (header.sync === undefined && !actions.includes(change.action)) {
				throw fault(`has the action ${change.action}, which this command does not do`);
			}
			changes += 1;
			hash.update(bytes).update(LINE_END);
			return change;
		},
		/** @throws PlanFault where the plan has no last line */
		end(): CheckedPlan {
			if (header === undefined) throw new PlanFault("is empty");
			if (counts === undefined) throw cut();
			return { header, counts };
		},
	};
}

/** A line nests a value of a key that is changed: the line, `change`, the key, then what metadata has. */
const PLAN_JSON: JsonRules = { maxDepth: 3 + DEEPEST_METADATA, maxString: Number.POSITIVE_INFINITY, maxFaults: 0 };

const TEXT = v.string();
const HASH = v.pipe(TEXT, v.regex(/^[0-9a-f]{64}$/));
const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const FOOTER = v.strictObject({ changes: COUNT, unchanged: COUNT, failed: COUNT, sha256: HASH });
const METADATA = v.custom<Metadata>((value) => value instanceof Map);
const VALUE = v.custom<JsonValue>((value) => value !== undefined);

const HEADER = v.strictObject({
	ragtag_plan: v.literal(PLAN_VERSION),
	ragtag: TEXT,
	base_url: TEXT,
	mode: v.picklist(["replace", "merge"]),
	manifest: v.strictObject({ name: TEXT, sha256: HASH, rows: COUNT }),
	created: TEXT,
	sync: v.optional(
		v.pipe(
			v.strictObject({
				root: TEXT,
				device: v.number(),
				dataset_id: TEXT,
				state: TEXT,
				was: TEXT,
				untagged: v.boolean(),
			}),
			v.transform(({ dataset_id: datasetId, untagged: isUntagged, ...of }) => ({ ...of, datasetId, isUntagged })),
		),
	),
});

const PLANNED = { line: COUNT, dataset_id: TEXT, document_id: TEXT, name: v.optional(TEXT) };
const CHANGE = v.variant("action", [
	v.strictObject({ ...PLANNED, action: v.literal("remove"), was: HASH, path: v.optional(TEXT) }),
	v.strictObject({ ...PLANNED, action: v.literal("fail"), path: TEXT, code: TEXT, text: TEXT }),
	v.strictObject({
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
	v.strictObject({
		...PLANNED,
		was: HASH,
		action: v.literal("update"),
		or_was: v.optional(v.array(HASH)),
		meta_fields: METADATA,
		add: METADATA,
		change: v.map(TEXT, v.strictObject({ from: VALUE, to: VALUE })),
		remove: METADATA,
	}),
]);

/** Undefined where this version would not have written it. @param text a line without its end, here and below */
function readHeader(text: string): PlanHeader | undefined {
	const read = v.safeParse(HEADER, jsonObjectOf(text));
	if (!read.success) return undefined;
	const { ragtag, base_url: baseUrl, mode, manifest, created, sync } = read.output;
	return { ragtag, baseUrl, mode, manifest, created, sync };
}

/** Undefined where this version would not have written it: a repeated key, or an unknown member. */
function readChange(text: string): PlannedChange | undefined {
	const read = v.safeParse(CHANGE, membersOf(text));
	return read.success ? plannedOf(read.output) : undefined;
}

function plannedOf({ line, dataset_id: datasetId, document_id: documentId, ...read }: ReadChange): PlannedChange {
	const ids = { line, datasetId, documentId };
	switch (read.action) {
		case "remove":
		case "fail":
			return { ...ids, ...read };
		case "update": {
			const { name, action, was, or_was: orWas, meta_fields: metadata, ...difference } = read;
			return { ...ids, name, action, was, orWas, metadata, difference };
		}
		case "upload":
		case "replace":
		case "rename":
		case "keep": {
			const { name, action, from, from_path: fromPath, was, meta_fields: metadata, ...file } = read;
			return { ...ids, name, action, from, fromPath, was, file, metadata };
		}
	}
}

type ReadChange = v.InferOutput<typeof CHANGE>;

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
