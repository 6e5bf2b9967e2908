import { RestError } from "../../rest/errors.ts";
import type { Service } from "../service/service.ts";
import type { Work } from "../types.ts";

/** RAGFlow's words for a removal that names an unknown document: it has removed none (v0.25.2 to v0.27, and v1.0). */
const NONE_REMOVED = /\bdo not belong to dataset\b/;

export function isRefusal({ kind }: RestError): boolean {
	return kind === "rejected" || kind === "contradiction";
}

/** Whether the service has removed none of the documents that a removal names. */
export function hasRemovedNone(error: RestError): boolean {
	return isRefusal(error) && NONE_REMOVED.test(error.message);
}

/**
 * Whether a refusal may follow an applied removal. RAGFlow removes the document from its database, then its file from
 * the storage. It answers 500 or 100 if that fails (delete in api/apps/sdk/doc.py, v0.15 to v0.24).
 */
export function mayFollowRemoval({ kind, code, message }: RestError): boolean {
	if (kind === "contradiction") return code === "CODE_100" && !/\b405\b/.test(message);
	return kind === "rejected" && code === "CODE_500";
}

export function notFound(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `document ${service.show(documentId)} is not in dataset ${service.show(datasetId)}; no removal was sent`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}

/** The service has refused a removal of several documents because of this one, which was listed right before. */
export function goneMeanwhile(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `document ${service.show(documentId)} is no longer in dataset ${service.show(datasetId)}: another client removed it`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}

export function notRemoved(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `the service answered success to the removal of document ${service.show(documentId)}, and still lists it`;
	const isConfirmed = service.canary.removalsConfirmed.has(datasetId);
	return new RestError(text, { kind: isConfirmed ? "rejected" : "not_the_api", code: "NOT_REMOVED" });
}

/** The error of a removal after which another document is missing, too. */
export function removedMore(service: Service, { datasetId, documentId }: Work, neighbour: string): RestError {
	const [named, other, dataset] = [documentId, neighbour, datasetId].map((id) => service.show(id));
	const text = `the removal of document ${named} alone was sent, and document ${other} of dataset ${dataset} is gone too: something between this machine and the service changes requests`;
	return new RestError(text, { kind: "not_the_api", code: "REMOVED_MORE" });
}
