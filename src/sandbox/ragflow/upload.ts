import { mediaType } from "../body.ts";
import type { Release } from "../flavours/release.ts";
import { fileTypes } from "../flavours/file-types.ts";
import { Incoming } from "../incoming.ts";
import { hasBoundary, type Part, type PartSink, readParts } from "../multipart.ts";
import type { Service } from "../routes/call.ts";
import { documentNameLimit, uploadBodyLimit } from "../settings.ts";
import type { Store } from "../store/index.ts";
import type { Call, Route } from "./call.ts";
import { suffixOf } from "./document.ts";
import { Code, exception, Failure, success } from "./failure.ts";
import { freeName } from "./names.ts";

/** Bytes of a name in v0.18, which are one too many. */
const looseLimit = 128;

type Stored = { readonly id: string; readonly name: string; readonly size: number };

/** POST /datasets/<dataset_id>/documents. Good files are stored even where others of the same request are refused. */
export const uploadDocuments: Route = async (call, service) => {
	const errors: string[] = [];
	const stored = await store(call, service, errors);
	const data = JSON.stringify(stored.map((file) => uploaded(file, call.datasetId)));
	if (errors.length === 0) return success(data);
	throw new Failure(Code.server, errors.join("\n"), call.release.partialUploadTold ? { data } : {});
};

async function store(call: Call, { store, busboy }: Service, errors: string[]): Promise<Stored[]> {
	const { request, datasetId, release } = call;
	const files: Incoming[] = [];
	const open = (part: Part): PartSink => {
		// Other fields, metadata among them, are ignored.
		if (part.name !== "file" || part.fileName === undefined) return () => {};
		const name = nameOf(part.fileName, release);
		if (!fileTypes.has(suffixOf(name))) {
			errors.push(`${name}: This type of file has not been supported yet!`);
			return () => {};
		}
		const file = new Incoming(store, name);
		files.push(file);
		return (bytes) => file.add(bytes);
	};
	try {
		if (mediaType(request) === "multipart/form-data" && hasBoundary(request))
			await readParts(request, { busboy, limit: uploadBodyLimit, open });
		if (files.length + errors.length === 0) throw new Failure(Code.argument, "No file part!");
		for (const file of files) await file.written;
		return await store.commits.write(() => {
			const dataset = store.datasets.find(datasetId);
			if (dataset === undefined) throw nowhere(call.datasetAsked, release.uploadNowhereCode);
			const time = Date.now();
			return files.map((file) => insert(store, dataset.seq, file, time));
		});
	} catch (error) {
		await store.commits.write(() => files.forEach((file) => store.documents.removeBytes(file.id)));
		throw error;
	}
}

function insert(store: Store, dataset: number, { id, name, size }: Incoming, time: number): Stored {
	const free = freeName(name, (candidate) => store.documents.hasNameLike(dataset, candidate));
	const document = { id, name: free, size };
	store.documents.insert(dataset, document, time);
	store.datasets.addToCount(dataset, 1);
	return document;
}

/**
 * The name that a part gives its file, folders and all. Werkzeug, which all releases read bodies with, takes %22 for a
 * quote mark as it does a backslash and one.
 */
function nameOf(fileName: string, release: Release): string {
	const name = fileName.replaceAll("%22", '"');
	if (name === "" || name.includes("\0")) throw new Failure(Code.argument, "No file selected!");
	if (release.datasets.checks === "loose" && Buffer.byteLength(name) >= looseLimit)
		throw new Failure(Code.argument, `File name should be less than ${looseLimit} bytes.`);
	if (Buffer.byteLength(name) > documentNameLimit)
		throw new Failure(Code.argument, `File name must be ${documentNameLimit} bytes or less.`);
	return name;
}

function uploaded({ id, name, size }: Stored, dataset: string): object {
	const rest = { chunk_method: "naive", location: name, run: "UNSTART", suffix: suffixOf(name), thumbnail: "" };
	return { id, dataset_id: dataset, name, size, ...rest };
}

function nowhere(dataset: string, code: 100 | 102): Failure {
	const message = `Can't find the dataset with ID ${dataset}!`;
	return code === 100 ? exception(`LookupError("${message}")`) : new Failure(code, message);
}
