import type { Metadata } from "../../json.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api } from "../../rest/types.ts";
import { findDocument } from "../pages.ts";
import type { Work } from "../types.ts";
import type { Operation } from "./operation.ts";

export type UpdateItem = Work & { readonly metadata: Metadata };

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(api: Api): Operation<Item> {
	return async ({ datasetId, documentId, metadata }, request) => {
		await request(() => api.updateMetadata(datasetId, documentId, metadata));
		return { status: "updated", documentId };
	};
}

/** Reads what the document has, and writes the row laid over it. */
export function mergeMetadata<Item extends UpdateItem>(
	api: Api,
	merge: (present: Metadata, wanted: Metadata) => Metadata,
): Operation<Item> {
	return async ({ datasetId, documentId, metadata }, request) => {
		const document = await findDocument(api, request, datasetId, documentId);
		if (document === undefined) {
			const text = `document ${documentId} is not in dataset ${datasetId}`;
			throw new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
		}
		const present = document.metadata;
		if (present === undefined) {
			// Sending the row alone would remove what cannot be seen.
			const text = "the list shows no metadata, so there is nothing to merge with; nothing was sent";
			throw new RestError(text, { kind: "rejected", code: "NO_METADATA" });
		}
		await request(() => api.updateMetadata(datasetId, documentId, merge(present, metadata)));
		return { status: "updated", documentId };
	};
}
