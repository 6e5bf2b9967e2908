import type { JsonValue, Metadata } from "../../json/values.ts";
import type { InexactValues, Normalise } from "../../rest/types.ts";
import type { Mode } from "../change.ts";
import { differenceOf } from "../diff.ts";
import { metadataHash } from "./hash.ts";
import type { PlannedUpdate } from "./types.ts";

/**
 * Whether a document has what it had when the plan was made, as it stands or by the known rules of the service.
 *
 * @param inexact what of it came rounded, as the service gave it
 */
export function isAsPlanned(was: string, present: Metadata, keeps: Normalise, inexact?: InexactValues): boolean {
	if (metadataHash(present, inexact) === was) return true;
	// No service was ever sent a number that can't be kept, so its rules explain no such.
	return inexact === undefined && metadataHash(keeps(present)) === was;
}

/** The keys in which a document differs from what it had when the plan was made. */
export function keysChangedSince(
	planned: Pick<PlannedUpdate, "metadata" | "difference">,
	present: Metadata,
	keeps: Normalise,
): string[] {
	const { add, change, remove } = differenceOf(metadataBefore(planned), present, keeps);
	return [...add.keys(), ...change.keys(), ...remove.keys()];
}

/** What the document had: what is sent, with its difference taken back. */
function metadataBefore({ metadata, difference }: Pick<PlannedUpdate, "metadata" | "difference">): Metadata {
	const before = new Map<string, JsonValue>(metadata);
	for (const key of difference.add.keys()) before.delete(key);
	for (const [key, { from }] of difference.change) before.set(key, from);
	for (const [key, value] of difference.remove) before.set(key, value);
	return before;
}

/** Whether what a document has now under that key is part of what `overruled` sends. */
export function keptWhenOverruled(mode: Mode, { difference }: Pick<PlannedUpdate, "difference">, key: string): boolean {
	const { add, change, remove } = difference;
	return mode === "merge" && !add.has(key) && !change.has(key) && !remove.has(key);
}

/**
 * What is sent to a document that was changed since, where that is overruled: in `replace` mode the planned object as it
 * stands, in `merge` mode what the document has now with the planned difference laid over it.
 */
export function overruled(
	mode: Mode,
	{ metadata, difference }: Pick<PlannedUpdate, "metadata" | "difference">,
	present: Metadata,
): Metadata {
	if (mode === "replace") return metadata;
	const merged = new Map(present);
	for (const [key, value] of difference.add) merged.set(key, value);
	for (const [key, { to }] of difference.change) merged.set(key, to);
	for (const key of difference.remove.keys()) merged.delete(key);
	return merged;
}
