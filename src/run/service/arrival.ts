import { type Metadata, sameValue } from "../../json/values.ts";
import type { Normalise } from "../../rest/flavours.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";

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
	keeps: Normalise,
): Arrival {
	if (sameMetadata(after, sent)) return "as_sent";
	const kept = keeps(sent);
	// What it keeps of what it has is what it has: so a rule that differs a little from ours is still seen as one.
	if (sameMetadata(keeps(after), kept)) return "as_kept";
	if (before !== undefined && sameMetadata(after, before)) return "unchanged";
	if (before !== undefined && sameMetadata(after, new Map([...before, ...sent]))) return "merged";
	return before !== undefined && sameMetadata(after, new Map([...before, ...kept])) ? "merged" : "different";
}

/** Whether what a document has is what it would have if that were sent, by the known rules of the service. */
export function hasAlready(present: Metadata, sent: Metadata, keeps: Normalise): boolean {
	return sameMetadata(present, sent) || sameMetadata(keeps(present), keeps(sent));
}

/** Whether a document has what it would have if that were sent. A number that came rounded is equal to none. */
export function holds({ metadata, inexact }: RemoteDocument, sent: Metadata, keeps: Normalise): boolean {
	// A document that never had any may be listed without the member.
	return inexact === undefined && hasAlready(metadata ?? new Map(), sent, keeps);
}

/** Whether two documents carry the same metadata. Neither the order of keys nor that of members counts. */
export function sameMetadata(left: Metadata, right: Metadata): boolean {
	if (left.size !== right.size) return false;
	for (const [key, value] of left) {
		if (!right.has(key) || !sameValue(value, right.get(key))) return false;
	}
	return true;
}
