import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Store } from "../store/index.ts";
import type { Change } from "../store/writes.ts";
import type { Channel } from "./channel.ts";
import type { Draft, EncodedAnswer } from "./draft.ts";
import type { PlanParams } from "./plan-params.ts";

/** A kind of fault, as a plan names it. */
export type FaultKind = {
	/** what it does, in one line */
	readonly summary: string;
	/** its parameters with their defaults, in one line */
	readonly parameters: string;
	/** the variants that make sense, the default first */
	readonly when: readonly [When, ...When[]];
	readonly create: (params: PlanParams) => Fault;
};

/** `after`: the request is applied, and its answer altered. `before`: it is not applied, but answered as if it were. */
export type When = "before" | "after";

/** Both variants. The default is `after`, which is harder for a client. */
export const both: FaultKind["when"] = ["after", "before"];

/** Milliseconds that a plan may ask for: an hour. */
export const milliseconds = { least: 0, most: 3_600_000 };

/** Bytes that a plan may ask for: what a Content-Length of two gigabytes needs. */
export const bytes = { least: 0, most: 2 ** 32 };

/** Bytes of a body that is made in memory. */
export const bodyBytes = { least: 1, most: 256 * 1024 * 1024 };

/**
 * One fault of a plan: what it does at each step of a request. A step that it leaves out is not changed.
 *
 * It may keep state, so it is created again with each plan.
 */
export type Fault = {
	/** whether it has anything to alter, decided before the service is called; default: always */
	readonly appliesTo?: (request: RequestInfo, previous: Draft | undefined) => boolean;
	/** answers without calling the service, and before the body is read */
	readonly insteadOfService?: (context: FaultContext) => Sent;
	/** another URL for the service */
	readonly rewriteUrl?: (request: RequestInfo) => string;
	/** milliseconds by which writes are delayed */
	readonly writeDelay?: (context: FaultContext) => number;
	/** milliseconds for which the server does nothing else, by the changes that the request has made */
	readonly holdsFor?: (changes: readonly Change[]) => number;
	/** milliseconds for which every request is answered without a database */
	readonly databaseDownFor?: number;
	/** milliseconds for which the searches of metadata fail; this request is the first */
	readonly searchesFailFor?: number;
	/** whether updates of metadata are refused for as long: the whole search engine is away */
	readonly refusesUpdates?: boolean;
	/** other metadata than those that were sent */
	readonly alterMetadata?: (metadata: string) => string;
	/** the altered answer; `undefined` where there is nothing to alter, which only reads and refused requests may return */
	readonly alterAnswer?: (draft: Draft, context: FaultContext) => Draft | undefined;
	/** sends the answer in its own way */
	readonly send?: (answer: EncodedAnswer, context: FaultContext) => Sent;
	/** called for each document whose metadata the request has replaced */
	readonly onReplaced?: (dataset: string, document: string, before: string) => void;
	/** called after the answer to any request was sent */
	readonly onAnswer?: (request: RequestInfo, answer: string, store: Store) => Promise<void>;
};

/** The parts that a fault uses when it fires. */
export type FaultContext = {
	readonly request: RequestInfo;
	readonly channel: Channel;
	/** the next random number of this firing, from 0 up to 1 */
	readonly random: () => number;
	/** the previous answer to a request with this method */
	readonly previous: Draft | undefined;
	/** closes the port and all connections, and opens the same port again after that time */
	readonly outage: (milliseconds: number) => void;
};

/** The status that was sent; `null` where none was. */
export type Sent = Promise<number | null>;

/** A request as triggers and the ledger see it. */
export type RequestInfo = {
	readonly method: string;
	/** path and query, as sent */
	readonly url: string;
	readonly path: string;
	/** the document that the path or query names; `undefined` where they name none */
	readonly document: string | undefined;
	readonly headers: IncomingHttpHeaders;
};

export function requestInfo({ method = "", url = "", headers }: IncomingMessage): RequestInfo {
	const mark = url.indexOf("?");
	const path = mark === -1 ? url : url.slice(0, mark);
	const segment = /^\/api\/v1\/datasets\/[^/]+\/documents\/([^/]+)$/.exec(path)?.[1];
	const idParameter = mark === -1 ? null : new URLSearchParams(url.slice(mark + 1)).get("id");
	const document = segment === undefined ? (idParameter ?? undefined) : decoded(segment);
	return { method, url, path, document, headers };
}

function decoded(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment;
	}
}
