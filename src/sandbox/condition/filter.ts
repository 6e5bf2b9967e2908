import { rawItems, rawMembers } from "../json-text.ts";
import { pythonStrOfJson } from "../python.ts";
import { textColumn } from "../store/database.ts";
import type { Store } from "../store/index.ts";
import { scan } from "../store/pages.ts";
import { type Condition, type ConditionRules, type DocumentsByValue, matchingDocuments } from "./operators.ts";

/** A `metadata_condition`, parsed. `logic` may be any JSON value: only "and" means that all conditions must hold. */
export type MetadataFilter = { readonly logic: unknown; readonly conditions: readonly Condition[] };

/** The ids of the documents of a dataset whose metadata meet a filter. */
export async function matchingIds(
	store: Store,
	dataset: number,
	{ logic, conditions }: MetadataFilter,
	rules: ConditionRules,
): Promise<ReadonlySet<string>> {
	const keys = await valuesByKey(store, dataset);
	const sets = inOrder(keys, conditions, rules).map((condition) => {
		return new Set(matchingDocuments(keys.get(condition.key) ?? new Map(), condition, rules));
	});
	let found: ReadonlySet<string> | undefined;
	for (const set of sets) {
		if (found === undefined || (rules.join !== "plain" && found.size === 0)) found = set;
		else found = logic === "and" ? new Set([...found].filter((id) => set.has(id))) : new Set([...found, ...set]);
		if (found.size === 0 && rules.join === "by-key") return found;
		// What "and" has emptied stays empty, but an empty first result is forgotten.
		if (found.size === 0 && logic === "and" && set !== found) return found;
	}
	return found ?? new Set();
}

function inOrder(
	keys: ReadonlyMap<string, DocumentsByValue>,
	conditions: readonly Condition[],
	rules: ConditionRules,
): Condition[] {
	if (rules.join !== "by-key") return [...conditions];
	return [...keys.keys()].flatMap((key) => conditions.filter((condition) => condition.key === key));
}

/** All values of all keys as text: each item of a list by itself, and null not at all (`get_flatted_meta_by_kbs`). */
export async function valuesByKey(store: Store, dataset: number): Promise<Map<string, Map<string, string[]>>> {
	const keys = new Map<string, Map<string, string[]>>();
	for await (const rows of scan(store, dataset))
		for (const row of rows) add(keys, textColumn(row, "id"), textColumn(row, "meta_fields"));
	return keys;
}

function add(keys: Map<string, Map<string, string[]>>, id: string, metadata: string): void {
	for (const [key, raw] of rawMembers(metadata)) {
		const values = keys.get(key) ?? new Map<string, string[]>();
		keys.set(key, values);
		for (const item of raw.startsWith("[") ? rawItems(raw) : [raw]) {
			if (item === "null") continue;
			const text = pythonStrOfJson(item);
			const documents = values.get(text);
			if (documents === undefined) values.set(text, [id]);
			else documents.push(id);
		}
	}
}
