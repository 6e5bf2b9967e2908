import type { Release } from "../flavours/release.ts";
import { hasBoundary, mediaType, type Part, type PartSink, readParts, uploadBodyLimit } from "../request-body.ts";
import { documentNameLimit } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { type IncomingFile, storeFiles } from "../upload.ts";
import { Code, exception, Failure, success } from "./failure.ts";
import { fileTypes, freeName, suffixOf } from "./names.ts";
import type { Route } from "./request.ts";

type StoredFile = { readonly id: string; readonly name: string; readonly size: number };

/** POST /datasets/<dataset_id>/documents. Valid files are stored even where others of the same request are refused. */
export const uploadDocuments: Route = async (call, { store, busboy }) => {
	const { request, datasetId, release } = call;
	const errors: string[] = [];
	const stored = await storeFiles(
		store,
		async (newFile) => {
			const open = (part: Part): PartSink => {
				// Other fields, metadata among them, are ignored.
				if (part.name !== "file" || part.fileName === undefined) return () => {};
				const name = checkedName(part.fileName, release);
				if (fileTypes.has(suffixOf(name))) return newFile(name);
				errors.push(`${name}: This type of file has not been supported yet!`);
				return () => {};
			};
			if (mediaType(request) === "multipart/form-data" && hasBoundary(request))
				await readParts(request, { busboy, limit: uploadBodyLimit, open });
		},
		(files) => {
			if (files.length + errors.length === 0) throw new Failure(Code.argument, "No file part!");
			const dataset = store.datasets.find(datasetId);
			if (dataset === undefined) throw missingDataset(call.sentDatasetId, release.uploadMissingDatasetCode);
			const time = Date.now();
			return files.map((file) => insert(store, dataset.seq, file, time));
		},
	);
	const data = JSON.stringify(stored.map((file) => uploadedDocument(file, datasetId)));
	if (errors.length === 0) return success(data);
	throw new Failure(Code.server, errors.join("\n"), release.reportsPartialUpload ? { data } : {});
};

function insert(store: Store, dataset: number, { id, name, size }: IncomingFile, time: number): StoredFile {
	const free = freeName(name, (candidate) => store.documents.equalNames(dataset, candidate).length > 0);
	const document = { id, name: free, size };
	store.documents.insert(dataset, document, time);
	store.datasets.addToCount(dataset, 1);
	return document;
}

/** In v0.18 a name must have fewer bytes than this. */
const nameLimit018 = 128;

/**
 * The name that a part gives its file, with its folders. Werkzeug, by which all releases read bodies, reads %22 as a
 * quotation mark, as it does a backslash with one.
 */
function checkedName(fileName: string, release: Release): string {
	const name = fileName.replaceAll("%22", '"');
	if (name === "" || name.includes("\0")) throw new Failure(Code.argument, "No file selected!");
	if (release.datasets.checks === "loose" && Buffer.byteLength(name) >= nameLimit018)
		throw new Failure(Code.argument, `File name should be less than ${nameLimit018} bytes.`);
	if (Buffer.byteLength(name) > documentNameLimit)
		throw new Failure(Code.argument, `File name must be ${documentNameLimit} bytes or less.`);
	return name;
}

function uploadedDocument({ id, name, size }: StoredFile, dataset: string): object {
	const rest = { chunk_method: "naive", location: name, run: "UNSTART", suffix: suffixOf(name), thumbnail: "" };
	return { id, dataset_id: dataset, name, size, ...rest };
}

function missingDataset(dataset: string, code: 100 | 102): Failure {
	const message = `Can't find the dataset with ID ${dataset}!`;
	return code === 100 ? exception(`LookupError("${message}")`) : new Failure(code, message);
}
