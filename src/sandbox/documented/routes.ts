import type { IncomingMessage } from "node:http";
import { matchingIds } from "../condition/filter.ts";
import { isObject, membersText, rawMembers } from "../json-text.ts";
import { Refusal } from "../refusal.ts";
import {
	hasBoundary,
	jsonBodyLimit,
	jsonObject,
	mediaType,
	type Part,
	type PartSink,
	readBody,
	readParts,
	uploadBodyLimit,
} from "../request-body.ts";
import { integerColumn, textColumn } from "../store/database.ts";
import { type Exact, findPage, type Order } from "../store/pages.ts";
import { newId, storeFiles } from "../upload.ts";
import {
	checkDatasetName,
	checkDocumentName,
	documentedRules,
	filterOf,
	findDataset,
	flagOf,
	notFound,
	parseCondition,
	type Route,
	windowOf,
} from "./request.ts";

/** GET /datasets */
export const listDatasets: Route = async ({ query }, { store, settings }) => {
	const id = filterOf(query, "id");
	const name = filterOf(query, "name");
	const window = windowOf(query, settings);
	store.commits.flush();
	return JSON.stringify(store.datasets.list({ id, name }, window));
};

/** POST /datasets */
export const createDataset: Route = async ({ request }, { store }) => {
	if (mediaType(request) !== "application/json") throw new Refusal(415, "a dataset is created with application/json");
	const { members } = jsonObject(await readBody(request, jsonBodyLimit));
	const name = checkDatasetName(members["name"]);
	const id = newId();
	await store.commits.write(() => store.datasets.insert(id, name));
	return JSON.stringify({ id, name });
};

/** GET /datasets/<dataset_id>/documents */
export const listDocuments: Route = async ({ query, datasetId }, { store, settings }) => {
	const window = windowOf(query, settings);
	const exact: Exact = { id: filterOf(query, "id"), name: filterOf(query, "name") };
	const order: Order = { by: orderOf(query), descending: flagOf(query, "desc") };
	const keywords = filterOf(query, "keywords")?.toLowerCase();
	const conditionText = filterOf(query, "metadata_condition");
	const filter = conditionText === undefined ? undefined : parseCondition(conditionText);
	store.commits.flush();
	const dataset = findDataset(store, datasetId);
	// A filter without conditions finds every document.
	const ids = filter?.conditions.length ? await matchingIds(store, dataset.seq, filter, documentedRules) : undefined;
	const matches = (row: unknown): boolean =>
		(keywords === undefined || textColumn(row, "name").toLowerCase().includes(keywords)) &&
		(ids === undefined || ids.has(textColumn(row, "id")));
	const filtered = keywords !== undefined || ids !== undefined;
	const search = { exact, order, matches: filtered ? matches : undefined, window, ties: settings.ties ?? "stable" };
	const { total, rows } = await findPage(store, dataset, search);
	return `{"total":${total},"docs":[${rows.map((row) => documentText(row, datasetId)).join(",")}]}`;
};

function orderOf(query: URLSearchParams): Order["by"] {
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time")
		throw new Refusal(400, "orderby is neither create_time nor update_time");
	return by;
}

/** A document of a list, as JSON text, because its metadata is stored as text. */
function documentText(row: unknown, dataset: string): string {
	const id = JSON.stringify(textColumn(row, "id"));
	const name = JSON.stringify(textColumn(row, "name"));
	const size = integerColumn(row, "size");
	const createTime = integerColumn(row, "create_time");
	const metadata = textColumn(row, "meta_fields");
	return (
		`{"id":${id},"dataset_id":${JSON.stringify(dataset)},"name":${name},"size":${size},` +
		`"create_time":${createTime},"meta_fields":${metadata}}`
	);
}

/** PUT /datasets/<dataset_id>/documents/<document_id> */
export const updateDocument: Route = async (call, { store, settings, onUpdate }) => {
	const { request, datasetId, documentId } = call;
	const sent = metadataOf(await updateBody(request));
	await store.commits.write(() => {
		let members = sent;
		if (settings.update === "merge") {
			const present = store.documents.metadata(datasetId, documentId);
			if (present === undefined) throw notFound(store, call);
			members = new Map([...rawMembers(present), ...sent]);
		}
		if (!store.documents.replaceMetadata(datasetId, documentId, membersText(members))) throw notFound(store, call);
	});
	onUpdate();
	return JSON.stringify({ document_id: documentId });
};

/** The JSON of an update in any of its forms, which the header Content-Type distinguishes. */
async function updateBody(request: IncomingMessage): Promise<Buffer> {
	const type = mediaType(request);
	if (type !== "multipart/form-data" && type !== "application/json")
		throw new Refusal(415, "an update is sent as multipart/form-data or application/json");
	if (type === "application/json" || !hasBoundary(request)) return readBody(request, jsonBodyLimit);

	const chunks: Buffer[] = [];
	let parts = 0;
	const open = (part: Part): PartSink => {
		if (++parts > 1) throw new Refusal(400, "the body has more than one part");
		checkPart(part);
		return (bytes) => chunks.push(bytes);
	};
	await readParts(request, { limit: jsonBodyLimit, open });
	if (parts === 0) throw new Refusal(400, "the body has no part");
	return Buffer.concat(chunks);
}

/** The documentation gives the part form exactly. Any other part is refused, so that a client's mistake is found. */
function checkPart({ name, fileName, mediaType: type }: Part): void {
	if (name !== "") throw new Refusal(400, 'the part of an update has an empty name: name=""');
	if (fileName !== "") throw new Refusal(400, 'the part of an update has an empty file name: filename=""');
	if (type !== "application/json") throw new Refusal(400, "the part of an update is application/json");
}

function metadataOf(body: Buffer): Map<string, string> {
	const { text, members } = jsonObject(body);
	if (!Object.hasOwn(members, "meta_fields")) throw new Refusal(400, "meta_fields is missing");
	if (!isObject(members["meta_fields"])) throw new Refusal(400, "meta_fields is not an object");
	return rawMembers(rawMembers(text).get("meta_fields") ?? "{}");
}

/**
 * POST /datasets/<dataset_id>/documents
 *
 * All parts named `file` are stored, or none: files become documents only when the whole request was valid.
 */
export const uploadDocuments: Route = async ({ request, datasetId }, { store }) => {
	if (mediaType(request) !== "multipart/form-data" || !hasBoundary(request))
		throw new Refusal(415, "documents are uploaded as multipart/form-data with a boundary");
	findDataset(store, datasetId);
	const stored = await storeFiles(
		store,
		(newFile) => {
			// Other fields are ignored, as deployed servers do.
			const open = ({ name, fileName }: Part): PartSink =>
				name === "file" ? newFile(checkDocumentName(fileName)) : () => {};
			return readParts(request, { limit: uploadBodyLimit, open });
		},
		(files) => {
			if (files.length === 0) throw new Refusal(400, "the body has no part named file");
			// Another request may have removed the dataset meanwhile.
			const { seq } = findDataset(store, datasetId);
			const time = Date.now();
			for (const file of files) store.documents.insert(seq, file, time);
			store.datasets.addToCount(seq, files.length);
			return files;
		},
	);
	return JSON.stringify(stored.map(({ id, name, size }) => ({ id, name, size })));
};

/** DELETE /datasets/<dataset_id>/documents/<document_id> */
export const removeDocument: Route = async (call, { store }) => {
	const { datasetId, documentId } = call;
	await store.commits.write(() => {
		if (!store.documents.remove(datasetId, documentId)) throw notFound(store, call);
		store.datasets.addToCount(findDataset(store, datasetId).seq, -1);
		store.pages.forgetStarts();
	});
	return JSON.stringify({ document_id: documentId });
};
