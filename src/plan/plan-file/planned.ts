import { canonicalObject, type JsonValue, type Metadata } from "../../json/values.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { differenceOf, type Mode } from "../change.ts";
import type { PlannedUpdate } from "./lines.ts";
import { createHash } from "node:crypto";

/**
 * Whether a document has what it had when the plan was made, as it is or as the service normalises it.
 *
 * @param inexact values of it that came rounded, as the service gave them
 */
export function isAsPlanned(was: string, present: Metadata, normalise: Normalise, inexact?: InexactValues): boolean {
	if (metadataHash(present, inexact) === was) return true;
	// Such a number was never sent, so no normalisation explains it.
	return inexact === undefined && metadataHash(normalise(present)) === was;
}

/** The metadata of a planned update. */
type Update = Pick<PlannedUpdate, "metadata" | "difference">;

/** The keys in which a document differs from what it had when the plan was made. */
export function keysChangedSince(planned: Update, present: Metadata, normalise: Normalise): string[] {
	const { add, change, remove } = differenceOf(metadataBefore(planned), present, normalise);
	return [...add.keys(), ...change.keys(), ...remove.keys()];
}

/** The previous metadata of the document: the planned one with its difference reverted. */
function metadataBefore({ metadata, difference }: Update): Metadata {
	const before = new Map<string, JsonValue>(metadata);
	for (const key of difference.add.keys()) before.delete(key);
	for (const [key, { from }] of difference.change) before.set(key, from);
	for (const [key, value] of difference.remove) before.set(key, value);
	return before;
}

/** Whether `forcedMetadata` returns the present value of that key. */
export function isKeptWhenForced(mode: Mode, { difference }: Update, key: string): boolean {
	const { add, change, remove } = difference;
	return mode === "merge" && !add.has(key) && !change.has(key) && !remove.has(key);
}

/**
 * The metadata that `--force` sends to a document that was changed since: in `replace` mode the planned object, in
 * `merge` mode what the document has now with the planned difference applied.
 */
export function forcedMetadata(mode: Mode, { metadata, difference }: Update, present: Metadata): Metadata {
	if (mode === "replace") return metadata;
	const merged = new Map(present);
	for (const [key, value] of difference.add) merged.set(key, value);
	for (const [key, { to }] of difference.change) merged.set(key, to);
	for (const key of difference.remove.keys()) merged.delete(key);
	return merged;
}

/**
 * The identity of metadata: SHA-256 of its JSON text with the members sorted by key at every depth, in hexadecimal. The order
 * in which a service lists keys is no change.
 *
 * @param inexact values of it that came rounded, as the service gave them: they differ from the rounded numbers
 */
export function metadataHash(metadata: Metadata, inexact?: InexactValues): string {
	const hash = createHash("sha256").update(canonicalObject(metadata));
	if (inexact !== undefined) hash.update(canonicalObject(inexact));
	return hash.digest("hex");
}
