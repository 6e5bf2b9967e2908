import { mediaType } from "../body.ts";
import { Refusal } from "../envelope.ts";
import { Incoming } from "../incoming.ts";
import { hasBoundary, type Part, type PartSink, readParts } from "../multipart.ts";
import { checkDocumentName } from "../names.ts";
import { uploadBodyLimit } from "../settings.ts";
import { findDataset, type Route } from "./call.ts";

/**
 * POST /datasets/<dataset_id>/documents
 *
 * All parts named `file` are stored, or none: a file becomes a document only when the whole request was good.
 */
export const uploadDocuments: Route = async ({ request, datasetId }, { store, busboy }) => {
	if (mediaType(request) !== "multipart/form-data" || !hasBoundary(request))
		throw new Refusal(415, "documents are uploaded as multipart/form-data with a boundary");
	findDataset(store, datasetId);
	const files: Incoming[] = [];
	const open = (part: Part): PartSink => {
		// Other fields are ignored, as deployed servers do.
		if (part.name !== "file") return () => {};
		const file = new Incoming(store, checkDocumentName(part.fileName));
		files.push(file);
		return (bytes) => file.add(bytes);
	};
	try {
		await readParts(request, { busboy, limit: uploadBodyLimit, open });
		if (files.length === 0) throw new Refusal(400, "the body has no part named file");
		for (const file of files) await file.written;
		await store.commits.write(() => {
			// Looked up again: the dataset is what counts at the moment of the commit.
			const { seq } = findDataset(store, datasetId);
			const time = Date.now();
			for (const file of files) store.documents.insert(seq, file, time);
			store.datasets.addToCount(seq, files.length);
		});
	} catch (error) {
		await store.commits.write(() => files.forEach((file) => store.documents.removeBytes(file.id)));
		throw error;
	}
	return JSON.stringify(files.map(({ id, name, size }) => ({ id, name, size })));
};
