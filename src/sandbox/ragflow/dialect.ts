import { Refusal, refusalText } from "../envelope.ts";
import type { Release } from "../flavours/release.ts";
import { checkHost } from "../guard.ts";
import { type Dialect, faultText, jsonReply, type Reply } from "../reply.ts";
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
			const { route, ...ids } = routeOf(method, path, release);
			const owner = isOwner({ request, route, release, keys, databaseAway: service.databaseAway });
			const call = { request, query: new URLSearchParams(query.join("?")), ...ids, release, owner };
			return jsonReply(200, await route(call, service));
		} catch (error) {
			return failed(error);
		}
	};
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

/** A page for people: what the proxy answers where it asks no API. */
function page(status: number, title: string): Reply {
	const text = `<!doctype html>\n<html><head><title>${title}</title></head><body><div id="root"></div></body></html>\n`;
	return { status, headers: {}, type: "text/html", text };
}
