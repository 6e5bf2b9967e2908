import { isJsonArray, type JsonValue } from "./values.ts";

/** The default value that removes its key in a merge. */
export const DELETE_TOKEN = "!delete";

/** One item of a list that changes another list. */
export type ListStep = { readonly adds: boolean; readonly item: string };

/**
 * The steps that a list stands for; undefined for a plain list.
 *
 * A list is a change only if each of its items is a step. One value that begins with a dash by chance must not change
 * the meaning of the whole list.
 */
export function listSteps(value: JsonValue): readonly ListStep[] | undefined {
	if (!isJsonArray(value) || value.length === 0) return undefined;
	const steps: ListStep[] = [];
	for (const item of value) {
		if (typeof item !== "string" || !/^[+-]/.test(item)) return undefined;
		steps.push({ adds: item.startsWith("+"), item: item.slice(1) });
	}
	return steps;
}
