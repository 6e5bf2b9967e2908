import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { jsonObject, mediaType, readBody } from "./body.ts";
import { Refusal } from "./envelope.ts";
import type { FaultReport } from "./faults/force.ts";
import { PlanError } from "./faults/plan-params.ts";
import type { FaultPlan } from "./faults/plan.ts";
import type { FaultInjector } from "./faults/fault-injector.ts";
import { checkHost } from "./guard.ts";
import type { DocumentCount } from "./faults/ledger/counts.ts";
import type { GapEntry, LedgerEntry } from "./faults/ledger/entries.ts";
import { listening } from "./server.ts";

/** Bytes of a plan: a thousand faults in many words. */
const planLimit = 4 * 1024 * 1024;

/** The record of what was done, and the plan of what is to go wrong. */
export type Control = {
	/** `http://127.0.0.1:PORT` */
	readonly url: string;
	/** the plan in force, with how often each fault fired */
	plan(): readonly FaultReport[];
	/** replaces the plan; its counts begin anew. Throws a `PlanError`, and leaves the old one, for one that can't be followed */
	setPlan(plan: FaultPlan): void;
	/** what was asked and applied, from an entry on */
	ledger(from?: number): readonly (LedgerEntry | GapEntry)[];
	/** all requests, all changes, and each document */
	counts(): { readonly requests: number; readonly applied: number; readonly documents: readonly DocumentCount[] };
	/** how often one document was updated and asked for */
	countOf(document: string): DocumentCount;
	/** forgets plan, ledger and counts */
	reset(): void;
	close(): Promise<void>;
};

/** Serves the record on a port of its own, so that nothing the API does, or fails to do, stands in its way. */
export async function openControl(trouble: FaultInjector): Promise<Control> {
	const server = createServer((request, response) => void handle(request, response, trouble));
	await listening(server, 0);
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The sandbox has no control port");
	return {
		url: `http://127.0.0.1:${address.port}`,
		plan: () => trouble.force.report(),
		setPlan: (plan) => trouble.force.set(plan),
		ledger: (from = 1) => [...trouble.ledger.from(from)],
		counts: () => {
			const { requests, applied } = trouble.ledger.counts;
			return { requests, applied, documents: [...trouble.ledger.counts.all()] };
		},
		countOf: (document) => trouble.ledger.counts.of(document),
		reset: () => reset(trouble),
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

async function handle(request: IncomingMessage, response: ServerResponse, trouble: FaultInjector): Promise<void> {
	try {
		checkHost(request);
		// Sent by browsers, for pages that have no business here, and by nobody else.
		if (request.headers.origin !== undefined) throw new Refusal(403, "requests of web pages are refused");
		await route(request, response, trouble);
	} catch (error) {
		const status = error instanceof Refusal ? error.code : error instanceof PlanError ? 400 : 500;
		const why = error instanceof Error ? error.message : String(error);
		if (response.headersSent) response.destroy();
		else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: why }));
	}
	request.resume();
}

async function route(request: IncomingMessage, response: ServerResponse, trouble: FaultInjector): Promise<void> {
	const url = new URL(request.url ?? "", "http://control");
	const { ledger, force } = trouble;
	switch (`${request.method} ${url.pathname}`) {
		case "GET /faults":
			return json(response, { faults: force.report() });
		case "POST /faults": {
			if (mediaType(request) !== "application/json") throw new Refusal(415, "a plan is sent as application/json");
			force.set(jsonObject(await readBody(request, planLimit)).members);
			return json(response, { faults: force.report() });
		}
		case "POST /reset":
			reset(trouble);
			return json(response, {});
		case "GET /ledger":
			return lines(response, ledger.from(fromOf(url)));
		case "GET /counts": {
			const { requests, applied } = ledger.counts;
			return lines(response, countLines({ requests, applied }, ledger.counts.all()));
		}
		default:
			throw new Refusal(404, "there are GET /faults, /ledger?from=N and /counts, and POST /faults and /reset");
	}
}

function* countLines(totals: object, documents: Iterable<DocumentCount>): Generator<object> {
	yield totals;
	yield* documents;
}

function reset({ force, ledger }: FaultInjector): void {
	force.set({ faults: [] });
	ledger.clear();
}

function fromOf(url: URL): number {
	const text = url.searchParams.get("from") ?? "1";
	const from = /^\d+$/.test(text) ? Number(text) : Number.NaN;
	if (!Number.isSafeInteger(from)) throw new Refusal(400, "from is not a whole number");
	return from;
}

function json(response: ServerResponse, value: object): void {
	response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
}

/** A line each, made as they are read: a ledger is never held as text. */
async function lines(response: ServerResponse, values: Iterable<object>): Promise<void> {
	response.writeHead(200, { "content-type": "application/jsonl" });
	await pipeline(Readable.from(texts(values)), response);
}

function* texts(values: Iterable<object>): Generator<string> {
	for (const value of values) yield `${JSON.stringify(value)}\n`;
}
