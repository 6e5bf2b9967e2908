import type { Release } from "../flavours/release.ts";
import { isObject, membersText, rawItems, rawMembers } from "../json-text.ts";
import { hasNonFinite, parsePythonJson, pythonStr, pythonStrip, pythonStrOfJson } from "../python.ts";
import { Code, Failure } from "./failure.ts";
import { goTrim, goValueText, wellFormed } from "./go-json.ts";
import { fieldText } from "./request.ts";

/** The stored metadata of an update: text, or nothing because it fails, whether or not the previous metadata are kept. */
export type StoredMetadata = { readonly text: string } | { readonly fails: "kept" | "lost" };

/** The stored text for the `meta_fields` of a body; `value` is the parsed `meta_fields`. */
export function storedMetadata(body: string, value: unknown, release: Release): StoredMetadata {
	// PATCH releases read null as no metadata.
	if (value === null && release.values !== "any") return { text: "{}" };
	if (!isObject(value)) throw new Failure(Code.data, "meta_fields must be a dictionary");
	const sent = rawMembers(rawMembers(body).get("meta_fields") ?? "{}");
	const members =
		release.reads === "as-go" ? new Map([...sent].map(([key, raw]) => [wellFormed(key), goValueText(raw)])) : sent;
	const text = membersText(members);
	if (!release.splitsLists) return { text };
	// Python finds equal items by their hash, which lists and objects do not have.
	if (release.itemEquality === "value" && [...members.values()].some(hasNested)) return { fails: "kept" };
	if (release.unfitValues !== "stored" && hasNonFinite(text)) return unfit(release);
	const split = [...members].map(([key, raw]): [string, string] => [key, splitValue(raw, release)]);
	return { text: membersText(new Map(split)) };
}

/** The end of an update that the search engine refuses. */
export function unfit({ unfitValues }: Release): StoredMetadata {
	return { fails: unfitValues === "refused" ? "kept" : "lost" };
}

/** Throws for metadata that PATCH releases refuse: all but text, numbers, mostly booleans, and lists of them. */
export function checkMetadata(body: string, value: unknown, release: Release): void {
	if (value === null) return;
	if (!isObject(value)) throw refused("Input should be a valid dictionary", value);
	for (const raw of rawMembers(rawMembers(body).get("meta_fields") ?? "{}").values()) {
		const member = parsePythonJson(raw);
		const isAllowed = (each: unknown): boolean =>
			isScalar(each) && (typeof each !== "boolean" || release.values === "flat");
		if (isAllowed(member) || (Array.isArray(member) && member.every(isAllowed))) {
			if (release.reads === "as-go" && [member].flat().some(isInfinite))
				throw refused("Input should be a valid number", value);
			continue;
		}
		const where = Array.isArray(member) ? " in list" : "";
		throw refused(`The type is not supported${where}: ${pythonStr(member)}`, value);
	}
}

/** A value as it is stored by releases that split lists. Text outside of a list stays as it is. */
export function splitValue(raw: string, rules: Partial<Pick<Release, "itemEquality" | "reads">> = {}): string {
	if (!raw.startsWith("[")) return raw;
	const kept = new Map<string, string>();
	const { itemEquality = "printed", reads = "as-python" } = rules;
	const strip = reads === "as-go" ? goTrim : pythonStrip;
	for (const item of rawItems(raw).flatMap((each) => splitItem(each, strip))) {
		const key = itemEquality === "printed" ? pythonStrOfJson(item) : valueKey(item);
		if (!kept.has(key)) kept.set(key, item);
	}
	return `[${[...kept.values()].join(",")}]`;
}

/** Items with the same key are equal in Python, where true equals 1 and false equals 0. */
function valueKey(item: string): string {
	const value = parsePythonJson(item);
	if (typeof value === "boolean") return String(Number(value));
	return typeof value === "number" ? String(value) : item;
}

/** The items that an item is split into. Text that consists of separators alone stays. */
function splitItem(item: string, strip: (text: string) => string): string[] {
	const text: unknown = item.startsWith('"') ? JSON.parse(item) : undefined;
	if (typeof text !== "string") return [item];
	const found = text
		.split(/[、,，;；|]+/)
		.map(strip)
		.filter((piece) => piece !== "");
	return (found.length === 0 ? [text] : found).map((piece) => JSON.stringify(piece));
}

function hasNested(raw: string): boolean {
	return raw.startsWith("[") && rawItems(raw).some((item) => /^[[{]/.test(item));
}

function isScalar(value: unknown): boolean {
	return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isInfinite(value: unknown): boolean {
	return value === Infinity || value === -Infinity;
}

function refused(why: string, value: unknown): Failure {
	return new Failure(Code.data, fieldText("meta_fields", why, value));
}
