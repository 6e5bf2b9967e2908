import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

/** A request as a plan and the ledger see it. */
export type RequestInfo = {
	readonly method: string;
	/** path and query, as sent */
	readonly url: string;
	readonly path: string;
	/** the document that path or query names; `undefined` where they name none */
	readonly document: string | undefined;
	readonly headers: IncomingHttpHeaders;
};

export function askedOf({ method = "", url = "", headers }: IncomingMessage): RequestInfo {
	const mark = url.indexOf("?");
	const path = mark === -1 ? url : url.slice(0, mark);
	const segment = /^\/api\/v1\/datasets\/[^/]+\/documents\/([^/]+)$/.exec(path)?.[1];
	const named = mark === -1 ? null : new URLSearchParams(url.slice(mark + 1)).get("id");
	return { method, url, path, document: segment === undefined ? (named ?? undefined) : decoded(segment), headers };
}

function decoded(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment;
	}
}
