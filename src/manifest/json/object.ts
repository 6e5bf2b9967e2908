import { hasHalfPair, isJsonObject, type JsonValue } from "../../json/values.ts";
import { emptyRow, type ParsedRow } from "../rows/row-reader.ts";
import { brokenChangeFault, mergeOnlyFault } from "../rows/values.ts";
import { isFailureColumn, isRole, meantReserved, PURPOSES, type Purpose, type Role, ROLES } from "../purposes.ts";
import { excerpt } from "../../text/show.ts";
import type { ManifestOptions } from "../types.ts";
import { type Member, parseMembers } from "../../json/parser.ts";
import { MANIFEST_JSON } from "../limits.ts";

/** Members that `docs list --format json` prints beside `meta_fields`: of the service, not of the user. */
const BESIDE_META_FIELDS: ReadonlySet<string> = new Set(["size", "create_time"]);

/** The row of an object: its metadata is one member `meta_fields`, or every member that is not reserved. */
export function rowOfMembers(
	members: ReadonlyMap<string, Member>,
	names: MemberNames,
	options: Pick<ManifestOptions, "purpose" | "mergeOnly" | "deleteToken">,
): ParsedRow {
	const parsed = emptyRow();
	const { metadata, subject } = PURPOSES[options.purpose];
	const isIgnored = metadata === "ignored";
	const isWrapped = Array.from(members.keys()).some((name) => names.of(name) === "meta_fields");
	const seen = new Set<string>();
	for (const [original, { value, start }] of members) {
		const name = names.of(original);
		if (name === undefined || isFailureColumn(name)) continue;
		if (seen.has(name)) addRepeated(parsed, name, start);
		seen.add(name);
		const meant = names.meant(name);
		if (meant !== undefined) {
			const text = `did you mean ${meant}? A key of this name belongs in meta_fields`;
			parsed.faults.push({ field: name, code: "UNKNOWN_MEMBER", text, offset: start });
		} else if (name === "meta_fields") {
			if (!isIgnored) wrapped(parsed, value, names);
		} else if (isRole(name)) {
			role(parsed, name, value, options.purpose);
		} else if (isWrapped && !BESIDE_META_FIELDS.has(name)) {
			const text = "stands beside meta_fields; move it into meta_fields";
			parsed.faults.push({ field: name, code: "BESIDE_META_FIELDS", text, offset: start });
		} else if (!isWrapped && !isIgnored && subject.columns?.others.includes(name) !== true) {
			parsed.metadata.set(name, value);
		}
	}
	for (const [key, value] of parsed.metadata) {
		if (subject.columns?.read.includes(key) === false) {
			parsed.faults.push({ field: key, code: "UNKNOWN_MEMBER", text: "is no member of a map" });
		}
		const fault = mergeOnlyFault(key, value, options.mergeOnly) ?? brokenChangeFault(key, value, options, true);
		if (fault !== undefined) parsed.faults.push(fault);
	}
	return parsed;
}

function wrapped(parsed: ParsedRow, value: JsonValue, names: MemberNames): void {
	if (!isJsonObject(value)) {
		parsed.faults.push({ field: "meta_fields", code: "META_FIELDS", text: "is not a JSON object" });
		return;
	}
	for (const [original, inner] of Object.entries(value)) {
		const key = names.of(original);
		if (key === undefined) continue;
		if (parsed.metadata.has(key)) addRepeated(parsed, key, undefined);
		parsed.metadata.set(key, inner);
	}
}

function role(parsed: ParsedRow, name: Role, value: JsonValue, purpose: Purpose): void {
	const code = PURPOSES[purpose].subject.roles[name];
	if (code === undefined) {
		// Not used to find the document, so it has no faults: messages show it.
		if (name === "name" && typeof value === "string") parsed.name = value;
		return;
	}
	if (typeof value !== "string") {
		const text = `${excerpt(JSON.stringify(value))} is not a text; write it in double quotes`;
		parsed.faults.push({ field: name, code, text });
	} else if (!name.endsWith("_id") && hasHalfPair(value)) {
		// No file name and no query can hold it. Ids have a check of their own.
		parsed.faults.push({ field: name, code: "LONE_SURROGATE", text: "holds half a surrogate pair" });
	} else parsed[ROLES[name]] = value;
}

function addRepeated(parsed: ParsedRow, field: string, offset: number | undefined): void {
	const fault = { field, code: "DUPLICATE_MEMBER", text: "stands twice in this row, after --map" };
	parsed.faults.push(offset === undefined ? fault : { ...fault, offset });
}

/** Names whose verdict is remembered. A manifest uses a few; a hostile one may use a new one in each row. */
const REMEMBERED = 1000;

export type MemberNames = ReturnType<typeof memberNames>;

/** The names of members after `--map` and `--ignore`. */
export function memberNames({ map, ignore }: Pick<ManifestOptions, "map" | "ignore">) {
	const waiting = new Map<string, "--map" | "--ignore">();
	for (const name of map.keys()) waiting.set(name, "--map");
	for (const name of ignore) waiting.set(name, "--ignore");
	const known = new Map<string, string | undefined>();
	return {
		/** The name of a member, or undefined when it is dropped. */
		of(name: string): string | undefined {
			if (waiting.size > 0) waiting.delete(name);
			return ignore.has(name) ? undefined : (map.get(name) ?? name);
		},
		/** The reserved name that was probably meant. */
		meant(name: string): string | undefined {
			if (known.has(name)) return known.get(name);
			const meant = meantReserved(name);
			if (known.size < REMEMBERED) known.set(name, meant);
			return meant;
		},
		/** The names that no member had, each with the flag that gives it. */
		unused: () => Array.from(waiting, ([name, flag]) => [flag, name] as const),
	};
}

/**
 * Where the values of a row's members begin in its text, by their names after `--map`. The members of the object come before
 * those of its `meta_fields`.
 */
export function memberOffsets(text: string, names: MemberNames): ReadonlyMap<string, number> {
	const offsets = new Map<string, number>();
	let wrapped: Member["members"];
	const add = ([original, { valueStart }]: readonly [string, Pick<Member, "valueStart">]): string | undefined => {
		const name = names.of(original);
		if (name !== undefined && !offsets.has(name)) offsets.set(name, valueStart);
		return name;
	};
	for (const entry of parseMembers(text, MANIFEST_JSON, [])) {
		if (add(entry) === "meta_fields") wrapped = entry[1].members ?? wrapped;
	}
	for (const entry of wrapped ?? []) add(entry);
	return offsets;
}
