import pLimit from "p-limit";
import { RestError } from "../../rest/errors.ts";
import type { Api, Document, ListedDocument } from "../../rest/types.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument } from "../documents/find-document.ts";
import { SMALL_PAGE } from "../documents/pages.ts";
import type { RemovableDocuments } from "../documents/removable-documents.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import { readBack, RetryTogether } from "../retry/retry.ts";
import { errorForGivenFlavour } from "../service/detect-flavour.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { BatchedRemovals, LISTED_AGAIN_MS, REMOVAL_DELAYS_MS } from "./batched-removals.ts";
import { type Operation, type RowAttempt, type SentLog, type Settled, unrecorded } from "./operation.ts";
import { RemovedTogether } from "./removed-together.ts";

type Removable = Pick<RemovableDocuments, "find" | "hasSeveral" | "sizeOf" | "isIgnoring">;

/** An attempt of a removal, in one dialect. */
type Removal = RowAttempt & {
	readonly api: Api;
	readonly removable: Removable;
	readonly together: RemovedTogether;
	/** undefined where the service removes one document at a time */
	readonly batches: BatchedRemovals | undefined;
	readonly isAsked: boolean;
	readonly refuse: (document: Document) => RestError | undefined;
};

export type RemovalOptions<Item extends Work> = {
	readonly log?: SentLog;
	/** whether each document is asked for when its row comes, although one list may show many */
	readonly isAsked?: boolean;
	/** the reason why a document that is listed now is left alone; undefined where it may be removed */
	readonly refuse?: (item: Item, document: Document) => RestError | undefined;
};

/**
 * Removes a document, but only one that the dataset's list has shown. It counts as removed when the list lacks it.
 *
 * Where the service removes several documents at once, the first row of a dataset goes alone, and the others in batches.
 */
export function removeDocument<Item extends Work>(
	service: Service,
	removable: Removable,
	{ log = unrecorded, isAsked = false, refuse = () => undefined }: RemovalOptions<Item> = {},
): Operation<Item> {
	const batches = new BatchedRemovals(service, log);
	const first = pLimit(1);
	const together = new RemovedTogether((datasetId) => removable.sizeOf(datasetId));
	return async (item, request, memory) => {
		// An earlier execution may have removed it, and been killed before it recorded that.
		memory.maybeRemoved ??= log.earlier(item.index) !== undefined;
		const { api } = service;
		const hasSeveral = isAsked || removable.hasSeveral(item.datasetId);
		const isBatched = hasSeveral && (await batches.areTaken(api, request));
		const attempt = { service, api, request, item, memory, log, removable, together };
		const removal: Removal = {
			...attempt,
			batches: isBatched ? batches : undefined,
			isAsked: isAsked || isBatched,
			refuse: (document) => refuse(item, document),
		};
		const removed = (): Promise<Settled> => attemptRemoval(removal);
		// After the first removal of a dataset, the list of a batch shows what each row would ask for now.
		const waits = isBatched && memory.maybeRemoved !== true && !service.canary.removalsConfirmed.has(item.datasetId);
		return (waits ? first(removed) : removed()).catch((error: unknown) => {
			throw errorForGivenFlavour(error, service, api);
		});
	};
}

async function attemptRemoval(removal: Removal): Promise<Settled> {
	const { service, api, request, item, memory, removable, batches } = removal;
	const { datasetId, documentId } = item;
	if (batches?.takes(item, memory) === true) {
		await batches.remove(api, request, removal);
		return { status: "removed", documentId };
	}
	if (memory.isRemovedTogether === true) {
		memory.isRemovedTogether = false;
		await confirmTogether(removal);
		return { status: "removed", documentId };
	}
	// A list from before the removal can't show whether it was applied.
	const document = await (memory.maybeRemoved === true
		? stillListed(removal)
		: removable.find(removal, datasetId, documentId));
	if (document === undefined) {
		if (memory.maybeRemoved !== true)
			throw memory.isLogged === true ? goneMeanwhile(service, item) : notFound(service, item);
		// The removal whose answer was lost was applied. Check that it removed nothing else.
		await checkNeighbour(removal);
		return { status: "removed", documentId };
	}
	memory.name = document.name ?? memory.name;
	if (service.canary.removalsConfirmed.has(datasetId)) await remove(removal, document);
	else if (!(await service.canary.alone(() => removeAsCanary(removal, document)))) return attemptRemoval(removal);
	return { status: "removed", documentId };
}

/** The document that a removal would remove. It removes nothing. @throws RestError where it is not there */
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
 * Until one removal from a dataset is confirmed, each is sent alone, between two reads: the document must be missing,
 * and a document that was not named must still exist.
 *
 * A proxy that loses the body of a DELETE turns "this document" into "all documents" on some releases. One request
 * shows it, and the rest of the run is not sent.
 *
 * @returns false where another row has confirmed it meanwhile, and this one can be removed with others
 */
async function removeAsCanary(removal: Removal, document: ListedDocument): Promise<boolean> {
	const { service, api, request, item, memory, batches } = removal;
	const { canary } = service;
	const { id, datasetId } = document;
	if (canary.harm !== undefined) throw canary.harm;
	if (batches?.takes(item, memory) === true) return false;
	if (!canary.removalsConfirmed.has(datasetId)) {
		const pageSize = Math.min(SMALL_PAGE, 2 + canary.removalsSent.size);
		const { items } = await request(() => api.listDocuments(datasetId, { page: 1, pageSize }));
		memory.neighbour ??= items.find((other) => other.id !== id && !canary.removalsSent.has(other.id))?.id;
	}
	await remove(removal, document);
	await checkNeighbour(removal);
	// The only document of a dataset proves nothing, as no other could have been removed with it.
	if (memory.neighbour !== undefined && !canary.removalsSent.has(memory.neighbour))
		canary.removalsConfirmed.add(datasetId);
	return true;
}

/**
 * Sends one removal and waits until the list lacks the document.
 *
 * @throws RetryTogether where one list is to confirm it with others
 */
async function remove(removal: Removal, document: ListedDocument): Promise<void> {
	const { service, api, request, item, memory, log, together, removable } = removal;
	const { id, datasetId } = document;
	const { canary } = service;
	if (memory.isLogged !== true) await log.sending(item, { write: "remove", documentId: id });
	memory.isLogged = true;
	const arrived = (): void => {
		memory.maybeRemoved = true;
		together.arrived(datasetId, id);
		if (!canary.removalsConfirmed.has(datasetId)) canary.removalsSent.add(id);
	};
	try {
		await together.send(datasetId, () => request(() => api.removeDocument(document)));
	} catch (error) {
		const kind = error instanceof RestError ? error.kind : undefined;
		const isRefused = kind === "rejected" || kind === "contradiction";
		// A list that lags still shows what an earlier attempt has removed, and then this one is refused.
		if (isRefused && memory.maybeRemoved === true && (await isGone(removal))) return;
		if (mayFollowRemoval(error) && (await stillListed(removal)) === undefined) return arrived();
		// A proxy may have passed the request on before it answered.
		if (!isRefused && kind !== "not_sent") arrived();
		throw error;
	}
	// The reads that follow may fail: the next attempt must know that the removal was sent.
	arrived();
	// If only the whole list is certain, it is not read again for each row, as the first removal was confirmed.
	if (removable.isIgnoring(datasetId) && canary.removalsConfirmed.has(datasetId)) return;
	if (canary.removalsConfirmed.has(datasetId) && together.waits(datasetId, id)) {
		memory.isRemovedTogether = true;
		throw new RetryTogether();
	}
	if (!(await isGone(removal))) throw notRemoved(removal);
}

/** Confirms a removal that was answered with success. @throws RestError where the document is still listed */
async function confirmTogether(removal: Removal): Promise<void> {
	const { api, request, item, together } = removal;
	const isGoneWithOthers = await together.isGone(api, request, item.datasetId, item.documentId);
	if (!isGoneWithOthers && !(await isGone(removal))) throw notRemoved(removal);
}

/** Whether the dataset no longer lists the row's document, after a while at the latest. */
function isGone({ service: { clock }, api, request, item }: Removal): Promise<boolean> {
	const isUnlisted = async (): Promise<boolean> =>
		(await findDocument(api, request, item.datasetId, item.documentId)) === undefined;
	return readBack(isUnlisted, { clock, delays: REMOVAL_DELAYS_MS });
}

function notRemoved({ service, item }: Removal): RestError {
	const text = `the service answered success to the removal of document ${service.show(item.documentId)}, and still lists it`;
	const isConfirmed = service.canary.removalsConfirmed.has(item.datasetId);
	return new RestError(text, { kind: isConfirmed ? "rejected" : "not_the_api", code: "NOT_REMOVED" });
}

/** The row's document after a removal without a good answer. It counts as removed if two reads do not show it. */
async function stillListed({ service, api, request, item }: Removal): Promise<Document | undefined> {
	let found: Document | undefined;
	const isListed = async (): Promise<boolean> => {
		found = await findDocument(api, request, item.datasetId, item.documentId);
		return found !== undefined;
	};
	await readBack(isListed, { clock: service.clock, delays: [0, LISTED_AGAIN_MS] });
	return found;
}

/**
 * Whether a refusal may follow an applied removal. RAGFlow removes the document from its database, then its file from
 * the storage. It answers 500 or 100 if that fails (delete in api/apps/sdk/doc.py, v0.15 to v0.24).
 */
function mayFollowRemoval(error: unknown): boolean {
	if (!(error instanceof RestError)) return false;
	const { kind, code, message } = error;
	if (kind === "contradiction") return code === "CODE_100" && !/\b405\b/.test(message);
	return kind === "rejected" && code === "CODE_500";
}

/** @throws RestError of code `REMOVED_MORE` if the other document is missing as well */
async function checkNeighbour({ service, api, request, item, memory: { neighbour } }: Removal): Promise<void> {
	const { datasetId, documentId } = item;
	if (neighbour === undefined || service.canary.removalsConfirmed.has(datasetId)) return;
	// Another row of this run may have removed it. That row checks a neighbour of its own.
	if (service.canary.removalsSent.has(neighbour)) return;
	if ((await findDocument(api, request, datasetId, neighbour)) !== undefined) return;
	const [named, other, dataset] = [documentId, neighbour, datasetId].map((id) => service.show(id));
	const text = `the removal of document ${named} alone was sent, and document ${other} of dataset ${dataset} is gone too: something between this machine and the service changes requests`;
	const error = new RestError(text, { kind: "not_the_api", code: "REMOVED_MORE" });
	service.canary.harm = error;
	throw error;
}

function notFound(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `document ${service.show(documentId)} is not in dataset ${service.show(datasetId)}; no removal was sent`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}

/** The service has refused a removal of several documents because of this one, which was listed right before. */
function goneMeanwhile(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `document ${service.show(documentId)} is no longer in dataset ${service.show(datasetId)}: another client removed it`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}
