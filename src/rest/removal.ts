import { show } from "../text/show.ts";
import { RestError } from "./errors.ts";
import { pathOf, segment } from "./url.ts";
import type { ListedDocument } from "./types.ts";

export type Removal = { readonly path: string; readonly body?: string; readonly headers?: string[] };

/**
 * The request that removes one document.
 *
 * A mistake in this body would empty a dataset: releases treat a list that is missing, empty or misspelt as "all documents".
 * So the body is made here alone, of one id that can't be empty.
 *
 * @throws RestError `BAD_ID` (rejected; nothing was sent)
 */
export function removalOf(
	by: "path" | "body",
	prefix: string,
	{ id, datasetId, isDatasetNamed }: ListedDocument,
): Removal {
	// Also for a body, where the id is no segment: `segment` refuses a text that is no id.
	const checked = segment(id);
	const documents = ["datasets", segment(datasetId), "documents"];
	if (by === "path") return { path: pathOf(prefix, [...documents, checked]) };
	// A release that deletes by body searches every dataset for the id.
	if (!isDatasetNamed) {
		const message = `the list does not say that document ${show(id)} is in dataset ${show(datasetId)}; no removal was sent`;
		throw new RestError(message, { kind: "rejected", code: "NOT_LISTED" });
	}
	const body = JSON.stringify({ ids: [id] });
	if (
		typeof id !== "string" ||
		id.trim() === "" ||
		!body.startsWith('{"ids":["') ||
		body.length < '{"ids":["x"]}'.length
	) {
		throw new RestError("an empty text is not an id; no removal was sent", { kind: "rejected", code: "BAD_ID" });
	}
	return { path: pathOf(prefix, documents), body, headers: ["content-type", "application/json"] };
}

/** The part of a listed document that its removal needs, which is listed as well. @throws RestError where none was listed */
export function forRemoval(listed: WeakSet<ListedDocument>, document: ListedDocument): ListedDocument {
	if (!listed.has(document)) throw notListed(document);
	const { id, datasetId, isDatasetNamed } = document;
	const kept = { id, datasetId, isDatasetNamed };
	listed.add(kept);
	return kept;
}

/** The error for a document that no list has shown. */
export function notListed({ id, datasetId }: ListedDocument): RestError {
	const message = `no list of dataset ${show(datasetId)} has shown document ${show(id)}; no removal was sent`;
	return new RestError(message, { kind: "rejected", code: "NOT_LISTED" });
}
