import { isJsonArray, type JsonValue } from "./values.ts";

/** What a value must say to remove its key in a merge, where nothing else is given. */
export const DELETE_TOKEN = "!delete";

/** One item of a list that changes another list. */
export type ListStep = { readonly adds: boolean; readonly item: string };

/**
 * The steps that a list stands for, or undefined where it is a list like any other.
 *
 * A list is a change only where each of its items says so: a value that begins with a dash by chance, beside others, must
 * not turn a whole list into something else.
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
