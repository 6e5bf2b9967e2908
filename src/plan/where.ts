import { isJsonArray, type JsonValue, type Metadata } from "../json/values.ts";

/** One `--where KEY=VALUE`. */
export type Where = readonly [key: string, value: string];

/** A value as text: what `--where` compares and what a cell of a table shows. */
export function valueText(value: JsonValue | undefined): string {
	if (value === undefined) return "";
	return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether metadata meets every condition. Compares as text; a list matches if one of its items does. */
export function matches(metadata: Metadata | undefined, conditions: readonly Where[]): boolean {
	return conditions.every(([key, wanted]) => {
		const value = metadata?.get(key);
		if (value === undefined) return false;
		return isJsonArray(value) ? value.some((item) => valueText(item) === wanted) : valueText(value) === wanted;
	});
}
