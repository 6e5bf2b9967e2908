import { type Dialect, internalErrorText, jsonReply, type Reply } from "../answer.ts";
import type { Release } from "../flavours/release.ts";
import { checkHost, Refusal, refusalText } from "../refusal.ts";
import { collationKey } from "../store/collation.ts";
import { bulkUpdate } from "./bulk-update.ts";
import { removeDatasets, updateDataset } from "./dataset-changes.ts";
import { createDataset, listDatasets, showDataset } from "./datasets.ts";
import { downloadDocument, fileReply } from "./download.ts";
import { Code, exception, Failure, failureText } from "./failure.ts";
import { isOwner, type Keys } from "./key.ts";
import { listDocuments } from "./list.ts";
import { parseDocuments } from "./parse.ts";
import { flattenedMetadata, metadataConfig, metadataSummary } from "./metadata-views.ts";
import { removeDocuments } from "./remove.ts";
import type { Route } from "./request.ts";
import { updateDocument } from "./update.ts";
import { uploadDocuments } from "./upload.ts";

/** The API as a release of RAGFlow answers it, with the proxy in front of it. */
export function ragflow(release: Release, keys: Keys): Dialect {
	return async (request, service) => {
		try {
			checkHost(request);
			const { method = "", url = "" } = request;
			const [path = "", ...query] = url.split("?");
			if (path !== "/api" && !path.startsWith("/api/")) return page(200, "RAGFlow");
			if (path.includes("//") && release.slashes === "two-redirected") return mergedSlashes(path, url);
			const routed = release.slashes === "last-redirected" ? routedByGin(path) : path;
			const { route, datasetId, documentId } = routeOf(method, routed, release);
			if (release.slashes === "last-redirected" && routed.endsWith("/")) return withoutLastSlash(method, routed, url);
			const call = {
				request,
				query: new URLSearchParams(query.join("?")),
				// The database compares ids as it does all text; those of the sandbox are in small letters.
				datasetId: collationKey(datasetId),
				documentId: collationKey(documentId),
				sentDatasetId: datasetId,
				sentDocumentId: documentId,
				release,
				isOwner: isOwner({ request, route, release, keys, databaseDown: service.databaseDown }),
			};
			const answer = await route(call, service);
			return withHeaders(release, typeof answer === "string" ? jsonReply(200, answer) : fileReply(answer, release));
		} catch (error) {
			return withHeaders(release, failed(error));
		}
	};
}

function withHeaders({ headers }: Release, reply: Reply): Reply {
	return { ...reply, headers: { ...headers, ...reply.headers } };
}

function failed(error: unknown): Reply {
	if (error instanceof Failure) return jsonReply(error.status, failureText(error));
	if (!(error instanceof Refusal)) return jsonReply(200, failureText(exception(internalErrorText(error))));
	// The sandbox protects itself from web pages in every flavour.
	if (error.code === 403) return jsonReply(403, refusalText(error));
	// The proxy has a limit of its own, and does not wait for the rest of the body.
	if (error.code === 413) return { ...page(413, "413 Request Entity Too Large"), headers: { connection: "close" } };
	return jsonReply(200, failureText(exception(error.message)));
}

/** Werkzeug merges slashes and redirects the client: so a missing id does not become an empty one. */
function mergedSlashes(path: string, url: string): Reply {
	const location = path.replaceAll(/\/{2,}/g, "/") + url.slice(path.length);
	return { ...page(308, "Redirecting..."), headers: { location } };
}

/** gin takes apart the path as it is decoded, so that an escaped slash divides, too, and two slashes for one. */
function routedByGin(path: string): string {
	const segments = decoded(path)
		.replaceAll(/\/{2,}/g, "/")
		.split("/");
	return segments.map(encodeURIComponent).join("/");
}

/** gin redirects to the path without a slash at the end, where that has a route (`redirectTrailingSlash` in its gin.go). */
function withoutLastSlash(method: string, path: string, url: string): Reply {
	const [, query] = url.split(/(?=\?)/);
	return {
		...page(method === "GET" ? 301 : 307, "Redirecting..."),
		headers: { location: path.slice(0, -1) + (query ?? "") },
	};
}

/** An HTML page: the proxy's answer outside the API. */
function page(status: number, title: string): Reply {
	const body = `<!doctype html>\n<html><head><title>${title}</title></head><body><div id="root"></div></body></html>\n`;
	return { status, headers: {}, type: "text/html", body };
}

type Methods = { readonly [method: string]: Route };
type Found = { readonly route: Route; readonly datasetId: string; readonly documentId: string };

const datasets: Methods = { GET: listDatasets, POST: createDataset, DELETE: removeDatasets };
const dataset: Methods = { PUT: updateDataset };
const documents: Methods = { GET: listDocuments, POST: uploadDocuments, DELETE: removeDocuments };
const chunks: Methods = { POST: parseDocuments };
const bulk: Methods = { POST: bulkUpdate };

/**
 * The route of a method and a path. It is found before the key is checked, so a wrong verb is reported without a key.
 *
 * One slash at the end is no segment: so the address of a document whose id is empty is the address of all documents.
 */
function routeOf(method: string, path: string, release: Release): Found {
	const [, , version, ...segments] = path.replace(/\/$/, "").split("/");
	const [first, datasetId = "", third, fourth = ""] = segments.map(decoded);
	let methods: Methods | undefined;
	let documentId = "";
	if (version === "v1" && first === "datasets" && !segments.includes("")) {
		if (segments.length === 1) methods = datasets;
		else if (segments.length === 2) methods = release.datasets.hasShow ? { GET: showDataset, ...dataset } : dataset;
		else if (release.servesWeb && segments.length === 3 && datasetId === "metadata" && third === "flattened")
			methods = { GET: flattenedMetadata };
		else if (third === "documents" && segments.length === 3) methods = documents;
		else if (third === "chunks" && segments.length === 3) methods = chunks;
		else if (third === "documents" && segments.length === 4) {
			const updates = Object.fromEntries(release.updateVerbs.map((verb) => [verb, updateDocument]));
			methods = { GET: downloadDocument, ...updates };
			if (release.servesWeb && fourth === "metadatas") methods = { ...methods, PATCH: bulkUpdate };
			documentId = fourth;
		} else if (third === "metadata" && fourth === "update" && segments.length === 4) {
			methods = release.bulkUpdate === "absent" ? undefined : bulk;
		} else if (release.servesWeb && third === "metadata" && segments.length === 4) {
			methods = new Map([
				["summary", { GET: metadataSummary }],
				["config", { GET: metadataConfig }],
			]).get(fourth);
		}
	}
	if (methods === undefined) throw notFound(path, release);
	const route = Object.hasOwn(methods, method) ? methods[method] : undefined;
	if (route === undefined) {
		if (release.unknownPath === "status-404-and-verbs") throw notFound(path, release);
		throw exception("<MethodNotAllowed '405: Method Not Allowed'>");
	}
	return { route, datasetId, documentId };
}

function notFound(path: string, release: Release): Failure {
	if (release.unknownPath === "status-200") return exception("<NotFound '404: Not Found'>");
	const error = release.unknownPath === "status-404" ? {} : { error: "Not Found" };
	const shown = release.slashes === "last-redirected" ? decoded(path) : path;
	return new Failure(Code.notFound, `Not Found: ${shown}`, { status: 404, data: "null", ...error });
}

/** Text that is not UTF-8 stays as it is: it is the id of no document. */
function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
