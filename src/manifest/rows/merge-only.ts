import type { JsonValue } from "../../json/values.ts";
import { listSteps } from "../../json/list-change.ts";
import type { Fault } from "../fault.ts";
import { excerpt } from "../../text/show.ts";
import type { ManifestOptions } from "../types.ts";

/**
 * What is wrong with a value that only a merge understands, in a run that replaces: it would be stored as it stands, and
 * all other keys of its document would go. A document may have that value already, so it can be excused.
 */
export function mergeOnlyFault(
	field: string,
	value: JsonValue,
	mergeOnly: ManifestOptions["mergeOnly"],
): Fault | undefined {
	if (mergeOnly === undefined) return undefined;
	if (value === mergeOnly.token) {
		const text = `"${excerpt(value)}" removes a key only with --mode merge; for that very text say --delete-token TEXT`;
		return { field, code: "MERGE_ONLY", text, ofValue: field };
	}
	if (!mergeOnly.lists || listSteps(value) === undefined) return undefined;
	const text =
		"a list of +item and -item alone changes a list only with --mode merge; for those very items say --delete-token TEXT";
	return { field, code: "MERGE_ONLY", text, ofValue: field };
}
