import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import { readBack } from "../retry/retry.ts";
import { SMALL_PAGE } from "../documents/pages.ts";
import { findDocument } from "../documents/find-document.ts";
import type { Request, Work } from "../types.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import type { Service } from "../service/service.ts";
import type { Memory, Operation } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";

/** Waits before each read-back of a removal, in milliseconds: an index may show a document for longer than its database. */
const REMOVAL_DELAYS_MS = [0, 250, 1_000, 2_000, 4_000];

/** Waits before each read of a document that a list may not show for a moment, in milliseconds. */
const LISTED_DELAYS_MS = [0, 250];

/** Removes a document, but only one that the dataset's list has shown, and counts it only when the list shows it no more. */
export function removeDocument<Item extends Work>(service: Service, log: SentLog = unrecorded): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, documentId } = item;
		// An earlier execution may have removed it, and died before it could say so.
		memory.maybeRemoved ??= log.earlier(item.index) !== undefined;
		return service.speaking(request, async (api) => {
			// What was read before a removal can't tell whether it was applied.
			const document = await (memory.maybeRemoved === true
				? stillThere(service, api, request, datasetId, documentId)
				: service.lookup.byId(api, request, datasetId, documentId));
			if (document === undefined) {
				if (memory.maybeRemoved !== true) throw notFound(service, item);
				// Gone after a removal whose answer was lost is what was wanted, if nothing else went with it.
				await checkNeighbour(service, api, request, item, memory);
				return { status: "removed", documentId };
			}
			if (memory.isLogged !== true) await log.sending(item, { what: "remove", documentId });
			memory.isLogged = true;
			if (service.canary.isRemovalSeen(datasetId)) await remove(service, api, request, document, memory);
			else await service.canary.alone(() => watched(service, api, request, document, memory));
			return { status: "removed", documentId };
		});
	};
}

/** The document that a removal would be of. Sends nothing that writes. @throws RestError where it is not there */
export async function previewRemoval(
	service: Service,
	request: Request,
	item: Work,
	present: Pick<DocumentSource, "byId">,
): Promise<RemoteDocument> {
	const { datasetId, documentId } = item;
	const document = await present.byId(await service.known(request), request, datasetId, documentId);
	if (document === undefined) throw notFound(service, item);
	return document;
}

/**
 * Until one removal from a dataset was seen off, each goes alone, between two looks: what was named must be gone, and a
 * document that was not named must still be there.
 *
 * Something in between that loses the body of a DELETE turns "this document" into "all documents" on some releases.
 * One request is the least that can show it, and the rest of the run is then not sent.
 */
async function watched(
	service: Service,
	api: Api,
	request: Request,
	document: Document,
	memory: Memory,
): Promise<void> {
	const { id, datasetId } = document;
	if (service.canary.harm !== undefined) throw service.canary.harm;
	if (!service.canary.isRemovalSeen(datasetId)) {
		const { removalsSent } = service.canary;
		const pageSize = Math.min(SMALL_PAGE, 2 + removalsSent.size);
		const { items } = await request(() => api.listDocuments(datasetId, { page: 1, pageSize }));
		memory.neighbour ??= items.find((other) => other.id !== id && !removalsSent.has(other.id))?.id;
	}
	await remove(service, api, request, document, memory);
	await checkNeighbour(service, api, request, { datasetId, documentId: id }, memory);
	// The last document of a dataset proves nothing: there was nothing that could have gone with it.
	if (memory.neighbour !== undefined && !service.canary.removalsSent.has(memory.neighbour))
		service.canary.removed(datasetId);
}

/** Sends one removal and waits until the list shows the document no more. */
async function remove(service: Service, api: Api, request: Request, document: Document, memory: Memory): Promise<void> {
	const { id, datasetId } = document;
	const { clock } = service;
	const isUnlisted = async (): Promise<boolean> => (await findDocument(api, request, datasetId, id)) === undefined;
	const isGone = (): Promise<boolean> => readBack(isUnlisted, { clock, delays: REMOVAL_DELAYS_MS });
	const arrived = (): void => {
		memory.maybeRemoved = true;
		if (!service.canary.isRemovalSeen(datasetId)) service.canary.removing(id);
	};
	try {
		await request(() => api.removeDocument(document));
	} catch (error) {
		const kind = error instanceof RestError ? error.kind : undefined;
		const isRefused = kind === "rejected" || kind === "contradiction";
		// A list that lags still shows what an earlier try has removed, and then this one is refused.
		if (isRefused && memory.maybeRemoved === true && (await isGone())) return;
		if (isThrownBehind(error) && (await stillThere(service, api, request, datasetId, id)) === undefined) {
			return arrived();
		}
		// Whatever answered, a proxy too, may have passed the request on before.
		if (!isRefused && kind !== "not_sent") arrived();
		throw error;
	}
	// The looks that follow may fail: the next try must know that it was sent.
	arrived();
	// Where only the whole list can tell, it is not read anew for each row: the first removal was seen off.
	if (service.lookup.isIndexed(datasetId) && service.canary.isRemovalSeen(datasetId)) return;
	if (await isGone()) return;
	const text = `the service answered success to the removal of document ${service.show(id)}, and still lists it`;
	throw new RestError(text, { kind: "not_the_api", code: "NOT_REMOVED" });
}

/** A document whose removal has no good answer. One empty list is not enough to count it as removed: it is asked for twice. */
async function stillThere(
	{ clock }: Service,
	api: Api,
	request: Request,
	datasetId: string,
	id: string,
): Promise<Document | undefined> {
	let found: Document | undefined;
	const isListed = async (): Promise<boolean> => {
		found = await findDocument(api, request, datasetId, id);
		return found !== undefined;
	};
	await readBack(isListed, { clock, delays: LISTED_DELAYS_MS });
	return found;
}

/**
 * Whether a refusal may have been thrown behind the removal. RAGFlow takes the document out of its database, then its file
 * out of the storage, and answers 500 or 100 where that fails (delete in api/apps/sdk/doc.py, v0.15 to v0.24).
 */
function isThrownBehind(error: unknown): boolean {
	if (!(error instanceof RestError)) return false;
	const { kind, code, message } = error;
	if (kind === "contradiction") return code === "CODE_100" && !/\b405\b/.test(message);
	return kind === "rejected" && code === "CODE_500";
}

async function checkNeighbour(
	service: Service,
	api: Api,
	request: Request,
	{ datasetId, documentId }: { readonly datasetId: string; readonly documentId: string },
	{ neighbour }: Memory,
): Promise<void> {
	if (neighbour === undefined || service.canary.isRemovalSeen(datasetId)) return;
	// Another row of this run has removed it meanwhile, or will have: that row has a neighbour of its own.
	if (service.canary.removalsSent.has(neighbour)) return;
	if ((await findDocument(api, request, datasetId, neighbour)) !== undefined) return;
	const [named, other, dataset] = [documentId, neighbour, datasetId].map((id) => service.show(id));
	const text = `the removal of document ${named} alone was sent, and document ${other} of dataset ${dataset} is gone too: something between this machine and the service changes requests`;
	const error = new RestError(text, { kind: "not_the_api", code: "REMOVED_MORE" });
	service.canary.harmed(error);
	throw error;
}

function notFound(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `document ${service.show(documentId)} is not in dataset ${service.show(datasetId)}; no removal was sent`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}
