import type { Metadata } from "../../json.ts";
import { RestError } from "../../rest/errors.ts";
import { sameMetadata } from "../service/read-back.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Work } from "../types.ts";
import type { Memory, Operation } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";

export type UpdateItem = Work & { readonly metadata: Metadata };

/** Writes a row's metadata as it stands. */
export function replaceMetadata<Item extends UpdateItem>(service: Service, log: SentLog = unrecorded): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId, metadata } = item;
		await logged(item, metadata, memory, log);
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}

/** Writes down what is about to be sent, once: a record is what was really sent, so another one follows where that differs. */
async function logged(item: Work, metadata: Metadata, memory: Memory, log: SentLog): Promise<void> {
	if (memory.logged !== undefined && sameMetadata(memory.logged, metadata)) return;
	await log.sending(item, { what: "update", documentId: item.documentId, metadata });
	memory.logged = metadata;
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
		await logged(item, metadata, memory, log);
		await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
		return { status: "updated", documentId };
	};
}
