import type { KeyTypes, ValueType } from "../../json/value-types.ts";
import type { CheckedManifest, ManifestKeys } from "../../manifest/types.ts";
import { show } from "../../text/show.ts";
import { documentsText } from "../../text/words.ts";
import { spellings } from "./spellings.ts";

/** The values of a type, in words. */
const VALUES: Readonly<Record<ValueType, string>> = {
	text: "texts",
	number: "numbers",
	boolean: "booleans",
	null: "nulls",
	list: "lists",
	object: "objects",
};

/** What rows write. */
type WrittenKeys = Pick<CheckedManifest, "keys" | "format">;

/** A key that probably stands for another, or whose values have another type than the dataset's. */
type KeyWarning = { readonly key: string; readonly text: string };

/** The keys of the documents that were read: all of a dataset, or some. */
type Present = { readonly keys: KeyTypes; readonly isWhole: boolean };

/**
 * What is odd in the keys of a manifest, compared with those of documents: a misspelt one makes a new key, and a value of
 * another type replaces one. Pure.
 */
function keyWarnings({ keys, format }: WrittenKeys, present: Present): KeyWarning[] {
	const warnings: KeyWarning[] = [];
	const unknown: string[] = [];
	for (const [key, types] of keys) {
		const found = present.keys.of(key)?.filter(([type]) => type !== "null");
		if (found === undefined) unknown.push(key);
		const [commonest] = found ?? [];
		const other = [...types].find(([type]) => type !== "null" && found?.every(([each]) => each !== type));
		if (commonest === undefined || other === undefined) continue;
		const [type, count] = commonest;
		const [given, line] = other;
		const isTyped = format === "csv" || line === undefined;
		const advice = isTyped ? `; write ${show(key)}:${type === "object" ? "json" : type}` : "";
		const have = present.isWhole
			? `${documentsText(count)} ${count === 1 ? "has" : "have"}`
			: "a document that was read has";
		warnings.push({
			key,
			text: `${show(key)}: ${have} ${VALUES[type]}, ${line === undefined ? "--set gives" : "the manifest has"} ${VALUES[given]}${advice}`,
		});
	}
	return unknown.length === 0 ? warnings : [...warnings, ...misspelt(unknown, keys, present)];
}

function misspelt(unknown: readonly string[], manifest: ManifestKeys, { keys, isWhole }: Present): KeyWarning[] {
	const known = keys.counts().map(([key]) => key);
	const like = spellings([...known, ...unknown]);
	return unknown.flatMap((key) => {
		// A manifest that names both keys means both.
		const near = like.get(key)?.find((each) => keys.of(each) !== undefined && !manifest.has(each));
		if (near === undefined) return [];
		const none = isWhole ? "no document has this key" : "a document that was read does not have this key";
		return [{ key, text: `${show(key)}: ${none}; ${meant(key, near)}` }];
	});
}

function meant(key: string, near: string): string {
	if (key.normalize() !== near.normalize()) return `did you mean ${show(near)}?`;
	return "one that looks the same is there, in another Unicode form: copy it from ragtag values";
}

/** Notes of a run about keys at most: more of them would hide each other. */
const MOST_NOTES = 5;

/** Notes the warnings as documents are read, each key once. */
export function keyNotes(written: WrittenKeys, note: (text: string) => void): (present: Present) => void {
	const noted = new Set<string>();
	return (present) => {
		if (noted.size === MOST_NOTES) return;
		for (const { key, text } of keyWarnings(written, present)) {
			if (noted.has(key) || noted.size === MOST_NOTES) continue;
			noted.add(key);
			note(`warning: ${text}`);
		}
	};
}
