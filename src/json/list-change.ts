import { excerpt } from "../text/show.ts";
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

/** What may stand for a sign: signs after blanks, the dashes of word processors, and the wide forms of Unicode. */
const LIKE_A_SIGN = /^\s*[+\-\u2010-\u2015\u2212\uFE63\uFF0B\uFF0D]/;

/** Whether an item begins as one of a change of a list does. */
export function isLikeStep(item: string): boolean {
	return LIKE_A_SIGN.test(item);
}

/**
 * Why a list is no change of a list although some of its items are steps, or are like steps; undefined for a plain list and
 * for a whole change. In a merge such a list would replace the present one by its items as they stand.
 *
 * @param token the text that removes a key, which removes no item
 */
export function brokenChange(items: readonly string[], token?: string): string | undefined {
	const removes = items.length > 1 && items.some((item) => item === token);
	if (removes) return `"${excerpt(token ?? "")}" removes no item`;
	const like = items.find(isLikeStep);
	const odd = items.find((item) => !/^[+-]./su.test(item));
	if (like === undefined || odd === undefined) return undefined;
	if (odd === "") return `an item is empty, and "${excerpt(like)}" has a sign`;
	const shown = `"${excerpt(odd)}"`;
	if (/^[+-]$/.test(odd)) return `${shown} is a sign without an item`;
	if (/^\s+[+-]/u.test(odd)) return `${shown} has a blank before its sign`;
	if (isLikeStep(odd)) return `${shown} begins with a dash or a wide sign; a sign is + or -`;
	return `${shown} has no sign, and "${excerpt(like)}" has one`;
}
