import type { Route } from "./call.ts";
import { Code, Failure } from "./failure.ts";

/**
 * GET /datasets/<dataset_id>/documents/<document_id>: the bytes of a document, as they were uploaded (`download`).
 *
 * Only the dataset's owner has them up to v0.25; v0.26 looks for the document alone, v0.27 calls both not found.
 */
export const downloadDocument: Route = async (call, { store }) => {
	const { datasetId, documentId, datasetAsked, documentAsked, owner, release } = call;
	store.commits.flush();
	const isThere = store.datasets.find(datasetId) !== undefined;
	if (release.download === "names-dataset" && (!owner || !isThere))
		throw new Failure(Code.data, `You do not own the dataset ${datasetAsked}.`);
	if (store.documents.datasetOf(documentId) !== datasetId) {
		if (release.download === "not-found") throw new Failure(Code.data, "document not found");
		throw new Failure(Code.data, `The dataset not own the document ${documentAsked}.`);
	}
	const bytes = store.documents.bytes(documentId);
	if (bytes.length === 0) throw new Failure(Code.data, "This file is empty.");
	return { bytes, name: store.documents.nameOf(documentId) ?? "" };
};
