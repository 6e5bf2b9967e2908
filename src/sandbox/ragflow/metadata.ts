import type { Release } from "../flavours/release.ts";
import { membersText, rawItems, rawMembers } from "../members.ts";
import { isObject } from "../object.ts";
import { holdsNoNumber, parsePythonJson } from "../python-json.ts";
import { Code, Failure } from "./failure.ts";
import { fieldText } from "./fields.ts";
import { pythonText, rawPython } from "../python.ts";

/** What an update makes of the metadata that were there: other text, or a failure, which loses them or not. */
export type Storing = { readonly text: string } | { readonly fails: "kept" | "lost" };

/** What is stored of the `meta_fields` of a body, whose parsed value is given. */
export function metadataOf(body: string, value: unknown, release: Release): Storing {
	// PATCH releases take null for no metadata.
	if (value === null && release.values === "flat") return { text: "{}" };
	if (!isObject(value)) throw new Failure(Code.data, "meta_fields must be a dictionary");
	const members = rawMembers(rawMembers(body).get("meta_fields") ?? "{}");
	const text = membersText(members);
	if (!release.splitsLists) return { text };
	// Python finds items that are the same by their hash, which lists and objects do not have.
	if (release.sameItems === "value" && [...members.values()].some(holdsNested)) return { fails: "kept" };
	if (release.noNumber !== "stored" && holdsNoNumber(text))
		return { fails: release.noNumber === "refused" ? "kept" : "lost" };
	const split = [...members].map(([key, raw]): [string, string] => [key, storedValue(raw, release.sameItems)]);
	return { text: membersText(new Map(split)) };
}

/** What PATCH releases take: text, numbers, booleans, and lists of them. */
export function checkMetadata(body: string, value: unknown): void {
	if (value === null) return;
	if (!isObject(value)) throw refused("Input should be a valid dictionary", value);
	for (const raw of rawMembers(rawMembers(body).get("meta_fields") ?? "{}").values()) {
		const member = parsePythonJson(raw);
		if (isScalar(member) || (Array.isArray(member) && member.every(isScalar))) continue;
		const where = Array.isArray(member) ? " in list" : "";
		throw refused(`The type is not supported${where}: ${pythonText(member)}`, value);
	}
}

/** A value as it is stored where lists are split. Text that is not in a list is kept as it is. */
export function storedValue(raw: string, same: Release["sameItems"] = "print"): string {
	if (!raw.startsWith("[")) return raw;
	const kept = new Map<string, string>();
	for (const item of rawItems(raw).flatMap(pieces)) {
		const key = same === "print" ? rawPython(item) : equalBy(item);
		if (!kept.has(key)) kept.set(key, item);
	}
	return `[${[...kept.values()].join(",")}]`;
}

/** In Python true is 1, false 0, and a number what it is worth. */
function equalBy(item: string): string {
	const value = parsePythonJson(item);
	if (typeof value === "boolean") return String(Number(value));
	return typeof value === "number" ? String(value) : item;
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

function holdsNested(raw: string): boolean {
	return raw.startsWith("[") && rawItems(raw).some((item) => /^[[{]/.test(item));
}

function isScalar(value: unknown): boolean {
	return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function refused(why: string, value: unknown): Failure {
	return new Failure(Code.data, fieldText("meta_fields", why, value));
}
