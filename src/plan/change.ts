import type { Metadata } from "../json.ts";

/** `replace` sends the row's metadata as it stands; `merge` lays it over what the document has. */
export type Mode = "replace" | "merge";

/**
 * The metadata to send for a row.
 *
 * Both modes end in one whole object, because the service may replace what it has by what it gets
 * (service-api.md leaves it open): a merge is done here, never left to the server.
 */
export function metadataToSend(mode: Mode, present: Metadata | undefined, wanted: Metadata): Metadata {
	if (mode === "replace" || present === undefined) return wanted;
	return new Map([...present, ...wanted]);
}
