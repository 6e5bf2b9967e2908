import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ActiveFlavour } from "./active-flavour.ts";
import type { Settings } from "./options.ts";
import type { Store } from "./store/index.ts";

/** The parts that every route uses, in every flavour. */
export type Service = {
	readonly store: Store;
	readonly settings: Settings;
	/** called after each update that was committed */
	readonly onUpdate: () => void;
	/** whether a fault has made the database unreachable; each flavour answers that in its own way */
	readonly databaseDown: boolean;
	/** whether a fault makes the searches of metadata fail, where the flavour keeps them in a search engine */
	readonly searchesFail: boolean;
	/** whether updates fail with them, as the whole engine is away */
	readonly updatesFail: boolean;
};

/** An answer, ready to be sent. */
export type Reply = {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	/** the header Content-Type */
	readonly type: string;
	/** the text of the body, or the bytes of a file */
	readonly body: string | Buffer;
};

/** Answers requests in one flavour: one request in, one reply out. Never rejects. */
export type Dialect = (request: IncomingMessage, service: Service) => Promise<Reply>;

/** The service, and the flavour in which it answers at the moment. */
export type Backend = { readonly service: Service; readonly flavour: ActiveFlavour };

export function jsonReply(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Reply {
	return { status, headers, type: "application/json; charset=utf-8", body: text };
}

/** The message for an error that is a fault of the sandbox itself. */
export function internalErrorText(error: unknown): string {
	return `the sandbox failed: ${error instanceof Error ? error.message : String(error)}`;
}

/** Answers one request in the active flavour. Never rejects. */
export async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	{ service, flavour }: Backend,
): Promise<void> {
	await sendReply(response, await flavour.dialect(request, service), service.settings.latency);
	// Bytes of a body that was not read would block the connection.
	request.resume();
}

/** Sends a reply, `latency` milliseconds late. */
export async function sendReply(response: ServerResponse, reply: Reply, latency: number): Promise<void> {
	const { status, headers, type, body } = reply;
	for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
	// A timer for each reply: concurrent requests wait side by side, as they do with a distant service.
	// The timers do not keep the process alive, because after `close` no client waits for a reply.
	if (latency > 0) await sleep(latency, undefined, { ref: false });
	response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
	response.end(body);
}

/** Takes one line for each request. */
export type Log = (line: string) => void;

/**
 * `TIME METHOD PATH STATUS`, written when the request is answered.
 *
 * The time is that of its arrival, because a rate is counted from arrivals. `-` stands for a status that the client did
 * not receive.
 */
export function logLine(
	arrived: number,
	{ method, url }: { readonly method?: string | undefined; readonly url?: string | undefined },
	status: number | null,
): string {
	return `${new Date(arrived).toISOString()} ${method ?? "-"} ${url ?? "-"} ${status ?? "-"}`;
}
