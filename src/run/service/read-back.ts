import { isJsonArray, isJsonObject, type JsonValue, type Metadata } from "../../json.ts";

/**
 * What became of metadata that was sent, as the list shows it.
 *
 * - `as_sent`: exactly that
 * - `as_kept`: that, after the known rules of the service
 * - `merged`: all of it, beside keys that the document had before and that were not sent
 * - `unchanged`: the document has what it had before
 * - `different`: anything else
 */
export type Arrival = "as_sent" | "as_kept" | "merged" | "unchanged" | "different";

/** Compares what was read back with what was sent. Pure. */
export function arrivalOf(
	{ before, sent, after }: { before: Metadata | undefined; sent: Metadata; after: Metadata },
	keeps: (sent: Metadata) => Metadata,
): Arrival {
	if (sameMetadata(after, sent)) return "as_sent";
	const kept = keeps(sent);
	// What it keeps of what it has is what it has: so a rule that differs a little from ours is still seen as one.
	if (sameMetadata(keeps(after), kept)) return "as_kept";
	if (before !== undefined && sameMetadata(after, before)) return "unchanged";
	if (before !== undefined && sameMetadata(after, new Map([...before, ...sent]))) return "merged";
	return before !== undefined && sameMetadata(after, new Map([...before, ...kept])) ? "merged" : "different";
}

/** Whether two documents carry the same metadata. Neither the order of keys nor that of members counts. */
export function sameMetadata(left: Metadata, right: Metadata): boolean {
	if (left.size !== right.size) return false;
	for (const [key, value] of left) {
		if (!right.has(key) || !sameValue(value, right.get(key))) return false;
	}
	return true;
}

function sameValue(left: JsonValue, right: JsonValue | undefined): boolean {
	if (left === right) return true;
	if (isJsonArray(left)) {
		return isJsonArray(right) && left.length === right.length && left.every((item, at) => sameValue(item, right[at]));
	}
	if (!isJsonObject(left) || !isJsonObject(right)) return false;
	const keys = Object.keys(left);
	return (
		keys.length === Object.keys(right).length &&
		keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key] ?? null, right[key]))
	);
}
