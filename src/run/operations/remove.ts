import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import { findDocument, type Request } from "../pages.ts";
import type { Service } from "../service/service.ts";
import type { Work } from "../types.ts";
import type { Memory, Operation } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";

/** Removes a document, but only one that the dataset's list has shown. */
export function removeDocument<Item extends Work>(service: Service, log: SentLog = unrecorded): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId } = item;
		// An earlier sitting may have removed it, and died before it could say so.
		memory.maybeRemoved ??= log.earlier(item.index) !== undefined;
		return service.speaking(request, async (api) => {
			// What was read before a removal can't tell whether it was applied.
			const document = await (memory.maybeRemoved === true
				? findDocument(api, request, datasetId, documentId)
				: service.lookup.byId(api, request, datasetId, documentId));
			if (document === undefined) {
				// Gone after a removal whose answer was lost is what was wanted.
				if (memory.maybeRemoved === true) return { status: "removed", documentId };
				const text = `document ${documentId} is not in dataset ${datasetId}; no removal was sent`;
				throw new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
			}
			if (memory.isLogged !== true) await log.sending(item, { what: "remove", documentId });
			memory.isLogged = true;
			await (service.proof.isRemovalSeen
				? send(api, request, document, memory)
				: first(service, request, document, memory));
			return { status: "removed", documentId };
		});
	};
}

async function send(api: Api, request: Request, document: Document, memory: Memory): Promise<void> {
	try {
		await request(() => api.removeDocument(document));
	} catch (error) {
		if (error instanceof RestError && error.kind === "ambiguous") memory.maybeRemoved = true;
		throw error;
	}
}

/**
 * The first removal of a run goes alone, between two looks at the dataset: what was named must be gone, and a document
 * that was not named must still be there.
 *
 * Something in between that loses the body of a DELETE turns "this document" into "all documents" on some releases.
 * One request is the least that can show it, and the rest of the run is then not sent.
 */
async function first(service: Service, request: Request, document: Document, memory: Memory): Promise<void> {
	await service.alone(async () => {
		const { api } = service;
		if (service.proof.isRemovalSeen) return send(api, request, document, memory);
		const neighbour = await neighbourOf(api, request, document);
		await send(api, request, document, memory);
		const { id, datasetId } = document;
		if ((await findDocument(api, request, datasetId, id)) !== undefined) {
			const text = `the service answered success to the removal of document ${id}, and still lists it`;
			throw new RestError(text, { kind: "not_the_api", code: "NOT_REMOVED" });
		}
		if (neighbour !== undefined && (await findDocument(api, request, datasetId, neighbour.id)) === undefined) {
			const text = `the removal of document ${id} alone was sent, and document ${neighbour.id} of dataset ${datasetId} is gone too: something between here and the service changes requests`;
			throw new RestError(text, { kind: "not_the_api", code: "REMOVED_MORE" });
		}
		service.proof.removed();
	});
}

async function neighbourOf(api: Api, request: Request, { id, datasetId }: Document): Promise<Document | undefined> {
	const { items } = await request(() => api.listDocuments(datasetId, { page: 1, pageSize: 2 }));
	return items.find((document) => document.id !== id);
}
