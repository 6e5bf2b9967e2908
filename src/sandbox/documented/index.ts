import type { IncomingMessage } from "node:http";
import { type Dialect, internalErrorText, jsonReply } from "../answer.ts";
import { checkHost, checkKey, Refusal, refusalText } from "../refusal.ts";
import type { Call, Route } from "./request.ts";
import {
	createDataset,
	listDatasets,
	listDocuments,
	removeDocument,
	updateDocument,
	uploadDocuments,
} from "./routes.ts";

/** The API exactly as it is documented. */
export function documented(key: string): Dialect {
	return async (request, service) => {
		try {
			checkHost(request);
			checkKey(request, key);
			const { route, call } = routeOf(request);
			if (service.databaseDown) throw new Refusal(503, "the database can't be reached");
			return jsonReply(200, successText(await route(call, service)));
		} catch (error) {
			const refusal = error instanceof Refusal ? error : new Refusal(500, internalErrorText(error));
			// The rest of a body that is too large is not awaited: the connection ends with the answer.
			const headers = refusal.code === 413 ? { ...refusal.headers, connection: "close" } : refusal.headers;
			const always = refusal.code === 401 || refusal.code === 403;
			const status = service.settings.errorStyle === "status" || always ? refusal.code : 200;
			return jsonReply(status, refusalText(refusal), headers);
		}
	};
}

/** The envelope of a success. `data` is JSON text, because metadata is kept as text to keep the order of its keys. */
function successText(data: string): string {
	return `{"code":0,"message":"Success","data":${data}}`;
}

type Methods = { readonly [method: string]: Route };

const datasets: Methods = { GET: listDatasets, POST: createDataset };
const documents: Methods = { GET: listDocuments, POST: uploadDocuments };
const document: Methods = { PUT: updateDocument, DELETE: removeDocument };

/** The route of a request, with the ids of its path: one of the six documented operations. */
function routeOf(request: IncomingMessage): { route: Route; call: Call } {
	const url = request.url ?? "";
	const mark = url.indexOf("?");
	const path = mark === -1 ? url : url.slice(0, mark);
	const [root, api, version, ...segments] = path.split("/");
	const ids = segments.map(decoded);
	const [first, datasetId = "", third, documentId = ""] = ids;
	// An empty segment is never an id: that mistake would turn "one document" into "all documents".
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
