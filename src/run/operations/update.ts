import type { Metadata } from "../../json.ts";
import { RestError } from "../../rest/errors.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Work } from "../types.ts";
import type { Operation } from "./operation.ts";

export type UpdateItem = Work & { readonly metadata: Metadata };

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(service: Service): Operation<Item> {
	return async ({ datasetId, documentId, metadata }, request, memory) => {
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}

/** Reads what the document has, and writes the row laid over it. */
export function mergeMetadata<Item extends UpdateItem>(
	service: Service,
	merge: (present: Metadata, wanted: Metadata) => Metadata,
): Operation<Item> {
	return async ({ datasetId, documentId, metadata }, request, memory) => {
		const api = await service.known(request);
		const document = await service.lookup.byId(api, request, datasetId, documentId);
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
		memory.before ??= { document };
		await writeMetadata(service, request, { datasetId, documentId, metadata: merge(present, metadata) }, memory);
		return { status: "updated", documentId };
	};
}
