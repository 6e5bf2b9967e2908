import type { Release } from "../flavours/release.ts";
import { bulkUpdate } from "./bulk.ts";
import type { Route } from "./call.ts";
import { removeDatasets, updateDataset } from "./dataset-changes.ts";
import { createDataset, listDatasets, showDataset } from "./datasets.ts";
import { downloadDocument } from "./download.ts";
import { Code, exception, Failure } from "./failure.ts";
import { listDocuments } from "./list.ts";
import { removeDocuments } from "./remove.ts";
import { updateDocument } from "./update.ts";
import { uploadDocuments } from "./upload.ts";

type Methods = { readonly [method: string]: Route };
type Found = { readonly route: Route; readonly datasetId: string; readonly documentId: string };

const datasets: Methods = { GET: listDatasets, POST: createDataset, DELETE: removeDatasets };
const dataset: Methods = { PUT: updateDataset };
const documents: Methods = { GET: listDocuments, POST: uploadDocuments, DELETE: removeDocuments };
const bulk: Methods = { POST: bulkUpdate };

/**
 * The route of a method and a path. Found before the key is looked at, so that a wrong verb is told to anyone.
 *
 * One slash at the end is no segment: so the address of a document whose id was left empty is that of all documents.
 */
export function routeOf(method: string, path: string, release: Release): Found {
	const [, , version, ...segments] = path.replace(/\/$/, "").split("/");
	const [first, datasetId = "", third, fourth = ""] = segments.map(decoded);
	let methods: Methods | undefined;
	let documentId = "";
	if (version === "v1" && first === "datasets" && !segments.includes("")) {
		if (segments.length === 1) methods = datasets;
		else if (segments.length === 2) methods = release.datasets.shownAlone ? { GET: showDataset, ...dataset } : dataset;
		else if (third === "documents" && segments.length === 3) methods = documents;
		else if (third === "documents" && segments.length === 4) {
			const updates = Object.fromEntries(release.updateVerbs.map((verb) => [verb, updateDocument]));
			methods = { GET: downloadDocument, ...updates };
			documentId = fourth;
		} else if (third === "metadata" && fourth === "update" && segments.length === 4) {
			methods = release.bulkUpdate === "absent" ? undefined : bulk;
		}
	}
	if (methods === undefined) throw notFound(path, release);
	const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
	if (route === undefined) throw exception("<MethodNotAllowed '405: Method Not Allowed'>");
	return { route, datasetId, documentId };
}

function notFound(path: string, release: Release): Failure {
	if (release.unknownPath === "status-200") return exception("<NotFound '404: Not Found'>");
	return new Failure(Code.notFound, `Not Found: ${path}`, { status: 404, data: "null" });
}

/** What is not UTF-8 is an id that nothing has. */
function decoded(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment;
	}
}
