import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FaultReport } from "./faults/active-plan.ts";
import type { FaultInjector } from "./faults/fault-injector.ts";
import type { DocumentCount, GapEntry, LedgerEntry } from "./faults/ledger.ts";
import { PlanError } from "./faults/plan-params.ts";
import type { FaultPlan } from "./faults/plan.ts";
import { listenOn } from "./listener.ts";
import { checkHost, Refusal } from "./refusal.ts";
import { jsonObject, mediaType, readBody } from "./request-body.ts";

/** Bytes of a plan: enough for a thousand faults with many parameters. */
const planLimit = 4 * 1024 * 1024;

/** The plan of faults, and the ledger of requests and of what they changed. */
export type Control = {
	/** `http://127.0.0.1:PORT` */
	readonly url: string;
	/** the active plan, with how often each fault fired */
	plan(): readonly FaultReport[];
	/** replaces the plan and starts its counts again; throws a `PlanError` and keeps the old plan if it is not valid */
	setPlan(plan: FaultPlan): void;
	/** requests and changes, from an entry on */
	ledger(from?: number): readonly (LedgerEntry | GapEntry)[];
	/** all requests, all changes, and the counts of each document */
	counts(): { readonly requests: number; readonly applied: number; readonly documents: readonly DocumentCount[] };
	/** how often one document was updated and requested */
	countOf(document: string): DocumentCount;
	/** clears plan, ledger and counts */
	reset(): void;
	close(): Promise<void>;
};

/** Serves plan and ledger on a port of their own, so that no fault of the API can block them. */
export async function openControl(injector: FaultInjector): Promise<Control> {
	const { plan, ledger } = injector;
	const server = createServer((request, response) => void handle(request, response, injector));
	const port = await listenOn(server, 0);
	return {
		url: `http://127.0.0.1:${port}`,
		plan: () => plan.report(),
		setPlan: (next) => plan.set(next),
		ledger: (from = 1) => [...ledger.from(from)],
		counts: () => ({ ...ledger.counts.totals(), documents: [...ledger.counts.all()] }),
		countOf: (document) => ledger.counts.of(document),
		reset: () => injector.reset(),
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

async function handle(request: IncomingMessage, response: ServerResponse, injector: FaultInjector): Promise<void> {
	try {
		checkHost(request);
		// Only browsers send the header Origin, for web pages, which must not reach the sandbox.
		if (request.headers.origin !== undefined) throw new Refusal(403, "requests of web pages are refused");
		await route(request, response, injector);
	} catch (error) {
		const status = error instanceof Refusal ? error.code : error instanceof PlanError ? 400 : 500;
		const why = error instanceof Error ? error.message : String(error);
		if (response.headersSent) response.destroy();
		else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: why }));
	}
	request.resume();
}

async function route(request: IncomingMessage, response: ServerResponse, injector: FaultInjector): Promise<void> {
	const url = new URL(request.url ?? "", "http://control");
	const { ledger, plan } = injector;
	switch (`${request.method} ${url.pathname}`) {
		case "GET /faults":
			return sendJson(response, { faults: plan.report() });
		case "POST /faults": {
			if (mediaType(request) !== "application/json") throw new Refusal(415, "a plan is sent as application/json");
			plan.set(jsonObject(await readBody(request, planLimit)).members);
			return sendJson(response, { faults: plan.report() });
		}
		case "POST /reset":
			injector.reset();
			return sendJson(response, {});
		case "GET /ledger":
			return sendLines(response, ledger.from(firstEntry(url)));
		case "GET /counts":
			return sendLines(response, countLines(ledger.counts.totals(), ledger.counts.all()));
		default:
			throw new Refusal(404, "there are GET /faults, /ledger?from=N and /counts, and POST /faults and /reset");
	}
}

function* countLines(totals: object, documents: Iterable<DocumentCount>): Generator<object> {
	yield totals;
	yield* documents;
}

function firstEntry(url: URL): number {
	const text = url.searchParams.get("from") ?? "1";
	const from = /^\d+$/.test(text) ? Number(text) : Number.NaN;
	if (!Number.isSafeInteger(from)) throw new Refusal(400, "from is not a whole number");
	return from;
}

function sendJson(response: ServerResponse, value: object): void {
	response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
}

/** One line for each value, made while it is sent, so that a ledger is never held as text. */
async function sendLines(response: ServerResponse, values: Iterable<object>): Promise<void> {
	response.writeHead(200, { "content-type": "application/jsonl" });
	await pipeline(Readable.from(jsonLines(values)), response);
}

function* jsonLines(values: Iterable<object>): Generator<string> {
	for (const value of values) yield `${JSON.stringify(value)}\n`;
}
