import type { Release } from "../flavours/release.ts";
import { hasBoundary, mediaType, type Part, type PartSink, readParts, uploadBodyLimit } from "../request-body.ts";
import { documentNameLimit } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { type IncomingFile, storeFiles } from "../upload.ts";
import { Code, exception, Failure, success } from "./failure.ts";
import { appendedName, fileTypeOf, freeName, nameLimit018, suffixOf } from "./names.ts";
import type { Call, Route } from "./request.ts";

type StoredFile = { readonly id: string; readonly name: string; readonly size: number };

/** POST /datasets/<dataset_id>/documents. Valid files are stored even where others of the same request are refused. */
export const uploadDocuments: Route = async (call, { store }) => {
	const { request, datasetId, release } = call;
	if (release.servesWeb) checkBeforeFiles(call, store);
	const errors: string[] = [];
	const stored = await storeFiles(
		store,
		async (newFile) => {
			const open = (part: Part): PartSink => {
				// Other fields, metadata among them, are ignored.
				if (part.name !== "file" || part.fileName === undefined) return () => {};
				// A part without the name of a file is no file in Go (`ReadForm` of mime/multipart).
				if (part.fileName === "" && release.fileNames === "base-exact") return () => {};
				const name = checkedName(part.fileName, release);
				// v1.0 trims the name for its type (`FilenameType` in utility/file.go).
				const typed = release.fileNames === "base-exact" ? name.trim() : name;
				if (fileTypeOf(typed) !== "other") return newFile(name);
				errors.push(`${name}: This type of file has not been supported yet!`);
				return () => {};
			};
			if (mediaType(request) === "multipart/form-data" && hasBoundary(request))
				await readParts(request, { limit: uploadBodyLimit, open });
		},
		(files) => {
			if (files.length + errors.length === 0) throw new Failure(Code.argument, "No file part!");
			const dataset = store.datasets.find(datasetId);
			if (dataset === undefined) throw missingDataset(call.sentDatasetId, release.uploadMissingDatasetCode);
			const time = Date.now();
			return files.map((file) => insert(store, dataset.seq, { file, time, release }));
		},
	);
	const data = JSON.stringify(stored.map((file) => uploadedDocument(file, datasetId, release)));
	if (errors.length === 0) return success(data, release.noMessage);
	// Where nothing was stored, v1.0 has null (handler/document.go:970), and the others have no data.
	const nothing = release.fileNames === "base-exact" ? { data: "null" } : {};
	const partly = stored.length === 0 ? nothing : { data };
	throw new Failure(Code.server, errors.join("\n"), release.reportsPartialUpload ? partly : {});
};

function checkBeforeFiles({ query, datasetId, sentDatasetId, release }: Call, store: Store): void {
	if (store.datasets.find(datasetId) === undefined)
		throw missingDataset(sentDatasetId, release.uploadMissingDatasetCode);
	const type = (query.get("type") || "local").toLowerCase();
	// The sandbox makes no documents of web pages, and no empty ones.
	if (type === "local") return;
	throw new Failure(Code.argument, '`type` must be one of "local", "web", or "empty".');
}

type Insertion = { readonly file: IncomingFile; readonly time: number; readonly release: Release };

function insert(store: Store, dataset: number, { file, time, release }: Insertion): StoredFile {
	const { id, name, size } = file;
	const equal = (candidate: string): string[] => store.documents.equalNames(dataset, candidate);
	const dot = name.lastIndexOf(".");
	const stem = dot < 0 ? name : name.slice(0, dot);
	const free =
		release.fileNames === "base-exact"
			? appendedName(stem, name.slice(stem.length), (candidate) => equal(candidate).includes(candidate))
			: freeName(name, (candidate) => equal(candidate).length > 0, release.fileNames === "numbered-in-folders");
	const document = { id, name: free, size };
	store.documents.insert(dataset, document, time);
	store.datasets.addToCount(dataset, 1);
	return document;
}

/**
 * The name that a part gives its file, with its folders. Werkzeug, by which the releases in Python read bodies, reads %22 as
 * a quotation mark, as it does a backslash with one. Go drops the folders, and leaves %22 as it is.
 */
function checkedName(fileName: string, release: Release): string {
	const inGo = release.fileNames === "base-exact";
	const name = inGo ? baseName(fileName) : fileName.replaceAll("%22", '"');
	if (name === "" || name.includes("\0")) throw new Failure(Code.argument, "No file selected!");
	if (release.datasets.checks === "loose" && Buffer.byteLength(name) >= nameLimit018)
		throw new Failure(Code.argument, `File name should be less than ${nameLimit018} bytes.`);
	if (Buffer.byteLength(name) > documentNameLimit)
		throw new Failure(Code.argument, `File name must be ${documentNameLimit} bytes or less.`);
	return name;
}

/** `filepath.Base`, which Go's `Part.FileName` uses. */
function baseName(path: string): string {
	return path.replace(/\/+$/, "").split("/").at(-1) || "/";
}

function uploadedDocument({ id, name, size }: StoredFile, dataset: string, { parserMember }: Release): object {
	const rest = { [parserMember]: "naive", location: name, run: "UNSTART", suffix: suffixOf(name), thumbnail: "" };
	return { id, dataset_id: dataset, name, size, ...rest };
}

function missingDataset(dataset: string, code: 100 | 102): Failure {
	const message = `Can't find the dataset with ID ${dataset}!`;
	return code === 100 ? exception(`LookupError("${message}")`) : new Failure(code, message);
}
