import { Refusal, refusalText } from "../envelope.ts";
import type { Release } from "../flavours/release.ts";
import { checkHost } from "../guard.ts";
import { type Dialect, faultText, jsonReply, type Reply } from "../reply.ts";
import { alike } from "../store/alike.ts";
import type { Asked, Call, FileAnswer } from "./call.ts";
import { exception, Failure, failureText } from "./failure.ts";
import { isOwner, type Keys } from "./key.ts";
import { routeOf } from "./router.ts";

/** The API as a release of RAGFlow answers it, with the proxy that stands in front of it. */
export function ragflow(release: Release, keys: Keys): Dialect {
	return async (request, service) => {
		try {
			checkHost(request);
			const { method = "", url = "" } = request;
			const [path = "", ...query] = url.split("?");
			if (path !== "/api" && !path.startsWith("/api/")) return page(200, "RAGFlow");
			if (path.includes("//")) return merged(path, url);
			const { route, ...ids } = routeOf(method, path, release);
			const owner = isOwner({ request, route, release, keys, databaseAway: service.databaseAway });
			const call = { request, query: new URLSearchParams(query.join("?")), ...keysOf(ids), release, owner };
			const answer = await route(call, service);
			return typeof answer === "string" ? jsonReply(200, answer) : fileReply(answer);
		} catch (error) {
			return failed(error);
		}
	};
}

function fileReply({ bytes, name }: FileAnswer): Reply {
	const headers = { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` };
	return { status: 200, headers, type: "application/octet-stream", text: bytes };
}

/** Ids are compared as all text is; those of the sandbox are in small letters. Refusals name them as they were sent. */
function keysOf({ datasetId, documentId }: Pick<Call, "datasetId" | "documentId">): Asked {
	const asked = { datasetAsked: datasetId, documentAsked: documentId };
	return { ...asked, datasetId: alike(datasetId), documentId: alike(documentId) };
}

function failed(error: unknown): Reply {
	if (error instanceof Failure) return jsonReply(error.status, failureText(error));
	if (!(error instanceof Refusal)) return jsonReply(200, failureText(exception(faultText(error))));
	// The sandbox's own guard against web pages, which no flavour changes.
	if (error.code === 403) return jsonReply(403, refusalText(error));
	// The proxy has a limit of its own, and does not wait for the rest of the body.
	if (error.code === 413) return { ...page(413, "413 Request Entity Too Large"), headers: { connection: "close" } };
	return jsonReply(200, failureText(exception(error.message)));
}

/** Werkzeug makes one slash of several, and has the client ask again: so an id that is left out is not an empty one. */
function merged(path: string, url: string): Reply {
	const location = path.replaceAll(/\/{2,}/g, "/") + url.slice(path.length);
	return { ...page(308, "Redirecting..."), headers: { location } };
}

/** A page for people: what the proxy answers where it asks no API. */
function page(status: number, title: string): Reply {
	const text = `<!doctype html>\n<html><head><title>${title}</title></head><body><div id="root"></div></body></html>\n`;
	return { status, headers: {}, type: "text/html", text };
}
