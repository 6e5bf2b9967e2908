import { type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import type { InexactValues } from "../rest/inexact.ts";
import type { Normalise } from "../rest/flavours.ts";

/**
 * What became of a row that was written.
 *
 * - `equal`: the document has what was sent; a removed one is gone
 * - `normalised`: it has what the service keeps of that, by its known rules
 * - `lost`: it has, at least in part, what it had before; or it is not there, or a removed one still is
 * - `changed_since`: it has something that it neither had before nor was sent: somebody wrote it later
 */
export type Verdict = {
	readonly result: "equal" | "normalised" | "lost" | "changed_since";
	/** what is lost, or was changed since; none where the document as a whole is meant */
	readonly keys: readonly string[];
};

/** What was done to a document. */
export type Deed = {
	readonly write: "update" | "upload" | "remove";
	/** what was sent */
	readonly metadata: Metadata;
	/** what the document had before; undefined where that is not known */
	readonly before: Metadata | undefined;
};

const EQUAL: Verdict = { result: "equal", keys: [] };
const LOST: Verdict = { result: "lost", keys: [] };
const NONE: Metadata = new Map();

/**
 * Compares what a document has now with what was sent to it. Pure.
 *
 * Where it is not known what the document had before, a change by others can't be told from a loss, and any difference is
 * taken for a loss: a success that is none must not pass in silence.
 *
 * @param present what the document has, undefined where the dataset does not list it
 * @param keeps what the service keeps of what it is sent
 * @param inexact what the document has that came rounded: no such number was ever sent
 */
export function verdictOf(
	{ write, metadata: sent, before }: Deed,
	present: Metadata | undefined,
	keeps: Normalise,
	inexact?: InexactValues,
): Verdict {
	if (write === "remove") return present === undefined ? EQUAL : LOST;
	if (present === undefined) return LOST;
	// A file without metadata was to be there, and says nothing of what else is.
	if (write === "upload" && sent.size === 0) return EQUAL;
	// A document that was just made had nothing.
	const had = before ?? (write === "upload" ? NONE : undefined);
	const isExact = (key: string): boolean => inexact?.has(key) !== true;
	const isKept = sameUnder(keeps, present, sent);
	const isAsHad = had === undefined ? () => true : sameUnder(keeps, present, had);
	const isAsBefore = (key: string): boolean => isAsHad(key) && (had === undefined || isExact(key));
	const keys = [...new Set([...sent.keys(), ...present.keys()])];
	const different = keys.filter((key) => !isExact(key) || !sameAt(key, present, sent));
	const wrong = different.filter((key) => !isExact(key) || !isKept(key));
	if (wrong.length === 0) return different.length === 0 ? EQUAL : { result: "normalised", keys: [] };
	const lost = wrong.filter(isAsBefore);
	return lost.length > 0 ? { result: "lost", keys: lost } : { result: "changed_since", keys: wrong };
}

/** Whether two documents have the same under a key, by the known rules of the service. */
function sameUnder(keeps: Normalise, left: Metadata, right: Metadata): (key: string) => boolean {
	const [keptLeft, keptRight] = [keeps(left), keeps(right)];
	return (key) => sameAt(key, left, right) || sameAt(key, keptLeft, keptRight);
}

function sameAt(key: string, left: Metadata, right: Metadata): boolean {
	const one: JsonValue | undefined = left.get(key);
	return one === undefined ? !right.has(key) : sameValue(one, right.get(key));
}
