import { show } from "../text/show.ts";
import { rejected, type RestError } from "./errors.ts";
import { pathOf, segment } from "./url.ts";
import type { ListedDocument } from "./types.ts";

type Removal = { readonly path: string; readonly body?: string; readonly headers?: string[] };

/**
 * The request that removes documents of one dataset; by path a single one.
 *
 * A mistake in this body would empty a dataset: releases treat a list that is missing, empty or misspelt as "all documents".
 * So the body is made here alone, of ids that can't be empty.
 *
 * @throws RestError `BAD_ID` (rejected; nothing was sent)
 */
export function removalOf(by: "path" | "body", prefix: string, documents: readonly ListedDocument[]): Removal {
	const [first] = documents;
	if (first === undefined || (by === "path" && documents.length > 1)) throw badId("a removal without a document");
	const { datasetId } = first;
	const path = ["datasets", segment(datasetId), "documents"];
	// Also for a body, where the id is no segment: `segment` refuses a text that is no id.
	const checked = documents.map(({ id }) => segment(id));
	if (by === "path") return { path: pathOf(prefix, [...path, ...checked]) };
	for (const { id, isDatasetNamed, datasetId: other } of documents) {
		// A release that deletes by body searches every dataset for the id.
		if (!isDatasetNamed || other !== datasetId) {
			const message = `the list does not say that document ${show(id)} is in dataset ${show(datasetId)}; no removal was sent`;
			throw rejected("NOT_LISTED", message);
		}
		if (typeof id !== "string" || id.trim() === "") throw badId("an empty text is not an id");
	}
	const body = JSON.stringify({ ids: documents.map(({ id }) => id) });
	if (!body.startsWith('{"ids":["') || body.length < '{"ids":["x"]}'.length) throw badId("an empty text is not an id");
	return { path: pathOf(prefix, path), body, headers: ["content-type", "application/json"] };
}

function badId(what: string): RestError {
	return rejected("BAD_ID", `${what}; no removal was sent`);
}

/** The error for a document that no list has shown. */
export function notListed({ id, datasetId }: ListedDocument): RestError {
	const message = `no list of dataset ${show(datasetId)} has shown document ${show(id)}; no removal was sent`;
	return rejected("NOT_LISTED", message);
}
