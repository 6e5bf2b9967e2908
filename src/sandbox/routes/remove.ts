import { notFound, findDataset, type Route } from "./call.ts";

/** DELETE /datasets/<dataset_id>/documents/<document_id> */
export const removeDocument: Route = async (call, { store }) => {
	const { datasetId, documentId } = call;
	await store.commits.write(() => {
		if (!store.documents.remove(datasetId, documentId)) throw notFound(store, call);
		store.datasets.addToCount(findDataset(store, datasetId).seq, -1);
		store.pages.forget();
	});
	return JSON.stringify({ document_id: documentId });
};
