import type { Release } from "../flavours/release.ts";
import { membersText, rawItems, rawMembers } from "../members.ts";
import { isObject } from "../object.ts";
import { Code, Failure } from "./failure.ts";
import { fieldText } from "./fields.ts";
import { pythonText } from "./python.ts";

/** The text that is stored of the `meta_fields` of a body, whose parsed value is given; throws what is not taken. */
export function metadataText(body: string, value: unknown, release: Release): string {
	if (!isObject(value)) throw notAnObject(value, release);
	const members = rawMembers(rawMembers(body).get("meta_fields") ?? "{}");
	if (release.values === "flat") {
		for (const raw of members.values()) checkFlat(raw, value);
	}
	if (!release.splitsLists) return membersText(members);
	return membersText(new Map([...members].map(([key, raw]) => [key, storedValue(raw)])));
}

/** A value as it is stored where lists are split. Text that is not in a list is kept as it is. */
export function storedValue(raw: string): string {
	if (!raw.startsWith("[")) return raw;
	return `[${[...new Set(rawItems(raw).flatMap(pieces))].join(",")}]`;
}

/** The items that become of one: text is divided, and one of nothing but separators stays. */
function pieces(item: string): string[] {
	const text: unknown = item.startsWith('"') ? JSON.parse(item) : undefined;
	if (typeof text !== "string") return [item];
	const found = text
		.split(/[、,，;；|]+/)
		.map((piece) => piece.trim())
		.filter((piece) => piece !== "");
	return (found.length === 0 ? [text] : found).map((piece) => JSON.stringify(piece));
}

function checkFlat(raw: string, metadata: unknown): void {
	const value: unknown = JSON.parse(raw);
	if (isScalar(value) || (Array.isArray(value) && value.every(isScalar))) return;
	const where = Array.isArray(value) ? " in list" : "";
	throw refusedField(`The type is not supported${where}: ${pythonText(value)}`, metadata);
}

function isScalar(value: unknown): boolean {
	return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function notAnObject(value: unknown, release: Release): Failure {
	if (release.values === "any") return new Failure(Code.data, "meta_fields must be a dictionary");
	return refusedField("Input should be a valid dictionary", value);
}

function refusedField(why: string, value: unknown): Failure {
	return new Failure(Code.data, fieldText("meta_fields", why, value));
}
