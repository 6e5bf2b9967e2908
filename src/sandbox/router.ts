import type { IncomingMessage } from "node:http";
import { Refusal } from "./envelope.ts";
import type { Call, Route } from "./routes/call.ts";
import { createDataset, listDatasets } from "./routes/datasets.ts";
import { listDocuments } from "./routes/list.ts";
import { removeDocument } from "./routes/remove.ts";
import { updateDocument } from "./routes/update.ts";
import { uploadDocuments } from "./routes/upload.ts";

type Methods = { readonly [method: string]: Route };

const datasets: Methods = { GET: listDatasets, POST: createDataset };
const documents: Methods = { GET: listDocuments, POST: uploadDocuments };
const document: Methods = { PUT: updateDocument, DELETE: removeDocument };

/** The route of a request and what its path says: the six documented operations, and nothing else. */
export function routeOf(request: IncomingMessage): { route: Route; call: Call } {
	const url = request.url ?? "";
	const mark = url.indexOf("?");
	const path = mark === -1 ? url : url.slice(0, mark);
	const [root, api, version, ...segments] = path.split("/");
	const ids = segments.map(decoded);
	const [first, datasetId = "", third, documentId = ""] = ids;
	// An empty segment is never an id: it is the mistake that makes "all documents" of "one document".
	const complete = root === "" && api === "api" && version === "v1" && ids.every((id) => id !== "");
	let methods: Methods | undefined;
	if (complete && first === "datasets") {
		if (ids.length === 1) methods = datasets;
		else if (third === "documents" && ids.length === 3) methods = documents;
		else if (third === "documents" && ids.length === 4) methods = document;
	}
	if (methods === undefined) throw new Refusal(404, `there is nothing at ${path}`);

	const method = request.method ?? "";
	const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
	if (route === undefined) {
		const allow = Object.keys(methods).join(", ");
		throw new Refusal(405, `${path} does not take ${method}, only ${allow}`, { allow });
	}
	const query = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
	return { route, call: { request, query, datasetId, documentId } };
}

function decoded(segment: string): string {
	if (!segment.includes("%")) return segment;
	try {
		return decodeURIComponent(segment);
	} catch {
		throw new Refusal(400, "the path is not percent-encoded UTF-8");
	}
}
