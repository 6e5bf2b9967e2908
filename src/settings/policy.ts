import type { JsonValue } from "../json/values.ts";
import type { MaxChanges, Policy } from "../policy.ts";
import type { Member, YamlReader } from "./yaml-reader.ts";

type Draft = { -readonly [Part in keyof Policy]: Policy[Part] };
type Read = (policy: Draft, member: Member, reader: YamlReader) => void;

/** The `policy` of a profile, from its YAML node. */
export function policyOf(member: Member, reader: YamlReader): Policy {
	const policy: Draft = {
		protectedKeys: new Set(),
		allowed: new Map(),
		required: new Set(),
		maxChanges: undefined,
		noClearing: false,
	};
	for (const part of reader.members(reader.map(member.value, "policy", member.key.offset), "policy")) {
		const read = PARTS.get(part.key.text);
		if (read === undefined) {
			const known = [...PARTS.keys()].join(", ");
			const text = `unknown member ${JSON.stringify(part.key.text)} in policy; known: ${known}`;
			throw reader.problem(part.key.offset, text);
		}
		read(policy, part, reader);
	}
	return policy;
}

const PARTS: ReadonlyMap<string, Read> = new Map<string, Read>([
	["protected", (policy, part, reader) => (policy.protectedKeys = keys(part, reader))],
	["allowed", (policy, part, reader) => (policy.allowed = allowed(part, reader))],
	["required", (policy, part, reader) => (policy.required = keys(part, reader))],
	["max_changes", (policy, part, reader) => (policy.maxChanges = maxChanges(part, reader))],
	[
		"no_clearing",
		(policy, part, reader) => {
			const value = reader.scalar(part.value);
			if (typeof value !== "boolean") throw reader.mismatch(part, "true or false");
			policy.noClearing = value;
		},
	],
]);

function keys(part: Member, reader: YamlReader): ReadonlySet<string> {
	const found = new Set<string>();
	for (const item of itemsOf(part, reader, "a list of keys")) {
		const key = reader.scalar(item);
		if (typeof key === "string") found.add(key);
		else
			throw reader.mismatch(
				{ key: part.key, value: item },
				"keys as text (put those in quotes that look like numbers)",
			);
	}
	return found;
}

function allowed(part: Member, reader: YamlReader): ReadonlyMap<string, readonly JsonValue[]> {
	const values = new Map<string, readonly JsonValue[]>();
	for (const member of reader.members(reader.map(part.value, "allowed", part.key.offset), "allowed")) {
		const items = itemsOf(member, reader, "a list of the values that are allowed");
		values.set(
			member.key.text,
			items.map((item) => {
				const value = reader.json(item);
				if (value !== undefined) return value;
				throw reader.mismatch({ key: member.key, value: item }, "values that JSON has");
			}),
		);
	}
	return values;
}

/** The items of a list. An empty list is refused: it was probably left empty by mistake. */
function itemsOf(part: Member, reader: YamlReader, what: string): readonly unknown[] {
	const items = reader.items(part.value);
	if (items === undefined || items.length === 0) throw reader.mismatch(part, `${what}, with at least one`);
	return items;
}

function maxChanges(part: Member, reader: YamlReader): MaxChanges {
	const value = reader.scalar(part.value);
	if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return { unit: "documents", value };
	const percent = typeof value === "string" ? /^(\d+(?:\.\d+)?) ?%$/.exec(value)?.[1] : undefined;
	if (percent !== undefined && Number(percent) <= 100) return { unit: "percent", value: Number(percent) };
	throw reader.mismatch(part, 'a whole number of documents, or a share of the rows such as "5%"');
}
