import { type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import type { InexactValues } from "../rest/inexact.ts";
import type { Normalise } from "../rest/flavours.ts";

/**
 * The outcome of a write, read back later.
 *
 * - `equal`: the document has what was sent; a removed document is gone
 * - `normalised`: it has what the service makes of that, by its known rules
 * - `lost`: some of its values are those from before; or it is missing; or it was removed and is still there
 * - `changed_since`: it has values that are neither the previous nor the sent ones: another client wrote it later
 */
export type Verdict = {
	readonly result: "equal" | "normalised" | "lost" | "changed_since";
	/** the keys that are lost or were changed since; none where it is the whole document */
	readonly keys: readonly string[];
};

/** A write to a document. */
export type Write = {
	readonly write: "update" | "upload" | "remove" | "rename";
	/** what was sent; empty for a removal */
	readonly metadata: Metadata;
	/** what the document had before; undefined where that is not known */
	readonly before: Metadata | undefined;
};

const EQUAL: Verdict = { result: "equal", keys: [] };
const LOST: Verdict = { result: "lost", keys: [] };
const NONE: Metadata = new Map();

/**
 * Compares what a document has now with what was sent to it.
 *
 * Without its previous metadata, a change by another client looks like a loss. Then every difference counts as a loss: a false
 * alarm is better than a false success.
 *
 * @param present what the document has, undefined where the dataset does not list it
 * @param normalise what the service makes of the metadata that it is sent
 * @param inexact values of the document that came rounded: such a number was never sent
 */
export function verdictOf(
	{ write, metadata: sent, before }: Write,
	present: Metadata | undefined,
	normalise: Normalise,
	inexact?: InexactValues,
): Verdict {
	if (write === "remove") return present === undefined ? EQUAL : LOST;
	if (present === undefined) return LOST;
	// An upload without metadata only had to create the document, and a rename sends none.
	if (write === "rename" || (write === "upload" && sent.size === 0)) return EQUAL;
	// A new document had no metadata.
	const had = before ?? (write === "upload" ? NONE : undefined);
	const isExact = (key: string): boolean => inexact?.has(key) !== true;
	const isKept = sameUnder(normalise, present, sent);
	const isAsHad = had === undefined ? () => true : sameUnder(normalise, present, had);
	const isAsBefore = (key: string): boolean => isAsHad(key) && (had === undefined || isExact(key));
	const keys = [...new Set([...sent.keys(), ...present.keys()])];
	const different = keys.filter((key) => !isExact(key) || !sameAt(key, present, sent));
	const wrong = different.filter((key) => !isExact(key) || !isKept(key));
	if (wrong.length === 0) return different.length === 0 ? EQUAL : { result: "normalised", keys: [] };
	const lost = wrong.filter(isAsBefore);
	return lost.length > 0 ? { result: "lost", keys: lost } : { result: "changed_since", keys: wrong };
}

/** Whether two documents have the same value of a key, as it is or as the service normalises it. */
function sameUnder(normalise: Normalise, left: Metadata, right: Metadata): (key: string) => boolean {
	const [keptLeft, keptRight] = [normalise(left), normalise(right)];
	return (key) => sameAt(key, left, right) || sameAt(key, keptLeft, keptRight);
}

function sameAt(key: string, left: Metadata, right: Metadata): boolean {
	const one: JsonValue | undefined = left.get(key);
	return one === undefined ? !right.has(key) : sameValue(one, right.get(key));
}
