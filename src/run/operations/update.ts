import type { Metadata } from "../../json.ts";
import { RestError } from "../../rest/errors.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Work } from "../types.ts";
import type { Operation } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";

export type UpdateItem = Work & { readonly metadata: Metadata };

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(service: Service, log: SentLog = unrecorded): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId, metadata } = item;
		if (memory.isLogged !== true) await log.sending(item, { what: "update", documentId, metadata });
		memory.isLogged = true;
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}

/** Reads what the document has, and writes the row laid over it. */
export function mergeMetadata<Item extends UpdateItem>(
	service: Service,
	merge: (present: Metadata, wanted: Metadata) => Metadata,
	log: SentLog = unrecorded,
): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId } = item;
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
		const metadata = merge(present, item.metadata);
		if (memory.isLogged !== true) await log.sending(item, { what: "update", documentId, metadata });
		memory.isLogged = true;
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}
