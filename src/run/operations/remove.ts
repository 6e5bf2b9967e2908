import { RestError } from "../../rest/errors.ts";
import type { Api } from "../../rest/types.ts";
import { findDocument } from "../pages.ts";
import type { Work } from "../types.ts";
import type { Operation } from "./operation.ts";

/** Removes a document, but only one that the dataset's list has shown. */
export function removeDocument<Item extends Work>(api: Api): Operation<Item> {
	return async ({ datasetId, documentId }, request, memory) => {
		const document = await findDocument(api, request, datasetId, documentId);
		if (document === undefined) {
			// Gone after a removal whose answer was lost is what was wanted.
			if (memory.maybeRemoved === true) return { status: "removed", documentId };
			const text = `document ${documentId} is not in dataset ${datasetId}; no removal was sent`;
			throw new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
		}
		try {
			await request(() => api.removeDocument(document));
		} catch (error) {
			if (error instanceof RestError && error.kind === "ambiguous") memory.maybeRemoved = true;
			throw error;
		}
		return { status: "removed", documentId };
	};
}
