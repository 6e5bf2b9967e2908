import { hasHalfPair, isJsonObject, type JsonValue } from "../../json/values.ts";
import { emptyDraft, type Draft } from "../rows/draft.ts";
import { mergeOnlyFault } from "../rows/merge-only.ts";
import { isFailureColumn, isRole } from "../rows/reserved.ts";
import { PURPOSES, type Purpose, type Role } from "../purposes.ts";
import { excerpt } from "../../text/show.ts";
import type { ManifestOptions } from "../types.ts";
import type { MemberNames } from "./names.ts";
import type { Member } from "../../json/parser.ts";

/** What `docs list --format json` prints beside `meta_fields`: of the service, not of the user. */
const BESIDE_META_FIELDS: ReadonlySet<string> = new Set(["size", "create_time"]);

/** The row that an object means: its metadata is one member `meta_fields`, or every member that is not reserved. */
export function draftOf(
	members: ReadonlyMap<string, Member>,
	names: MemberNames,
	options: Pick<ManifestOptions, "purpose" | "mergeOnly">,
): Draft {
	const draft = emptyDraft();
	const isIgnored = PURPOSES[options.purpose].metadata === "ignored";
	const isWrapped = Array.from(members.keys()).some((name) => names.of(name) === "meta_fields");
	const seen = new Set<string>();
	for (const [original, { value, start, valueStart }] of members) {
		const name = names.of(original);
		if (name === undefined || isFailureColumn(name)) continue;
		if (seen.has(name)) twice(draft, name, start);
		seen.add(name);
		const meant = names.meant(name);
		if (meant !== undefined) {
			const text = `did you mean ${meant}? A key of this name belongs in meta_fields`;
			draft.faults.push({ field: name, code: "UNKNOWN_MEMBER", text, offset: start });
		} else if (name === "meta_fields") {
			if (!isIgnored) wrapped(draft, value, names);
		} else if (isRole(name)) {
			if (name === "document_id") draft.idOffset = valueStart;
			role(draft, name, value, options.purpose);
		} else if (isWrapped && !BESIDE_META_FIELDS.has(name)) {
			const text = "stands beside meta_fields; move it into meta_fields";
			draft.faults.push({ field: name, code: "BESIDE_META_FIELDS", text, offset: start });
		} else if (!isWrapped && !isIgnored) draft.metadata.set(name, value);
	}
	if (options.mergeOnly === undefined) return draft;
	for (const [key, value] of draft.metadata) {
		const fault = mergeOnlyFault(key, value, options.mergeOnly);
		if (fault !== undefined) draft.faults.push(fault);
	}
	return draft;
}

function wrapped(draft: Draft, value: JsonValue, names: MemberNames): void {
	if (!isJsonObject(value)) {
		draft.faults.push({ field: "meta_fields", code: "META_FIELDS", text: "is not a JSON object" });
		return;
	}
	for (const [original, inner] of Object.entries(value)) {
		const key = names.of(original);
		if (key === undefined) continue;
		if (draft.metadata.has(key)) twice(draft, key, undefined);
		draft.metadata.set(key, inner);
	}
}

function role(draft: Draft, name: Role, value: JsonValue, purpose: Purpose): void {
	const code = PURPOSES[purpose].subject.roles[name];
	if (code === undefined) return;
	if (typeof value !== "string") {
		const text = `${excerpt(JSON.stringify(value))} is not a text; write it in double quotes`;
		draft.faults.push({ field: name, code, text });
	} else if (!name.endsWith("_id") && hasHalfPair(value)) {
		// No file name and no query can hold it. Ids are judged with all else that is wrong with them.
		draft.faults.push({ field: name, code: "LONE_SURROGATE", text: "holds half a surrogate pair" });
	} else if (name === "document_id") draft.documentId = value;
	else if (name === "dataset_id") draft.datasetId = value;
	else draft[name] = value;
}

function twice(draft: Draft, field: string, offset: number | undefined): void {
	const fault = { field, code: "DUPLICATE_MEMBER", text: "stands twice in this row, after --map" };
	draft.faults.push(offset === undefined ? fault : { ...fault, offset });
}
