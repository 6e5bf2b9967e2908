import { setImmediate as nextTurn } from "node:timers/promises";
import { rawItems, rawMembers } from "../members.ts";
import { rawPython } from "../python.ts";
import type { Store } from "../store/index.ts";
import { integerColumn, textColumn } from "../store/rows.ts";
import { type Condition, meeting, type Values } from "./operators.ts";
import type { ConditionRule } from "./rule.ts";

/** Documents looked at before other requests get their turn. */
const scanBatch = 2000;

export type Asked = { readonly logic: unknown; readonly conditions: readonly Condition[] };

/** The ids of the documents of a dataset that meet conditions on their metadata. */
export async function meetingIds(
	store: Store,
	dataset: number,
	{ logic, conditions }: Asked,
	rule: ConditionRule,
): Promise<ReadonlySet<string>> {
	const keys = await valuesByKey(store, dataset);
	const sets = inOrder(keys, conditions, rule).map((condition) => {
		return new Set(meeting(keys.get(condition.key) ?? new Map(), condition, rule));
	});
	let found: ReadonlySet<string> | undefined;
	for (const set of sets) {
		if (found === undefined || (rule.joined !== "plain" && found.size === 0)) found = set;
		else found = logic === "and" ? new Set([...found].filter((id) => set.has(id))) : new Set([...found, ...set]);
		// Of several conditions: what "and" has made empty stays so, but for a first one that is forgotten.
		if (found.size === 0 && rule.joined === "by-key") return found;
		if (found.size === 0 && logic === "and" && set !== found) return found;
	}
	return found ?? new Set();
}

function inOrder(
	keys: ReadonlyMap<string, Values>,
	conditions: readonly Condition[],
	rule: ConditionRule,
): Condition[] {
	if (rule.joined !== "by-key") return [...conditions];
	return [...keys.keys()].flatMap((key) => conditions.filter((condition) => condition.key === key));
}

/** All values of all keys: items of lists each, null as nothing, and all of them as text (`get_flatted_meta_by_kbs`). */
async function valuesByKey(store: Store, dataset: number): Promise<Map<string, Map<string, string[]>>> {
	const keys = new Map<string, Map<string, string[]>>();
	let rows = store.pages.after(dataset, 0, scanBatch);
	while (rows.length > 0) {
		for (const row of rows) add(keys, textColumn(row, "id"), textColumn(row, "meta_fields"));
		const last = integerColumn(rows.at(-1), "seq");
		await nextTurn();
		store.commits.flush();
		rows = store.pages.after(dataset, last, scanBatch);
	}
	return keys;
}

function add(keys: Map<string, Map<string, string[]>>, id: string, metadata: string): void {
	for (const [key, raw] of rawMembers(metadata)) {
		const values = keys.get(key) ?? new Map<string, string[]>();
		keys.set(key, values);
		for (const item of raw.startsWith("[") ? rawItems(raw) : [raw]) {
			if (item === "null") continue;
			const text = rawPython(item);
			const documents = values.get(text);
			if (documents === undefined) values.set(text, [id]);
			else documents.push(id);
		}
	}
}
