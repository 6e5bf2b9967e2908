import { createHash } from "node:crypto";
import { hasNonFinite } from "../python.ts";
import type { Change } from "../store/writes.ts";
import type { RequestInfo, When } from "./fault.ts";

/** The fault that a request met: its name, its place in the plan from 0 on, and its variant. */
export type FiredFault = { readonly name: string; readonly index: number; readonly when: When };

/** A request, recorded when it was answered. Times are ISO 8601 in UTC, with milliseconds. */
export type RequestEntry = {
	readonly type: "request";
	/** from 1 on, in the order of arrival */
	readonly request: number;
	/** of its arrival */
	readonly time: string;
	readonly method: string;
	readonly path: string;
	readonly document: string | null;
	/** the header X-Request-Id */
	readonly request_id: string | null;
	readonly fault: FiredFault | null;
	/** null where no status was sent */
	readonly status: number | null;
};

/** One change that a request made, recorded when it was committed. */
export type AppliedEntry = {
	readonly type: "applied";
	readonly request: number;
	/** of the commit */
	readonly time: string;
	readonly method: string;
	readonly request_id: string | null;
	/** `lose`: a fault has put the previous metadata back */
	readonly action: "update" | "upload" | "remove" | "create" | "lose";
	readonly dataset: string;
	readonly document: string | null;
	/** SHA-256 of the stored metadata text, in hexadecimal */
	readonly meta_sha256?: string;
	/** left out where the text is longer than a kilobyte, or no JSON because of `NaN` */
	readonly meta_fields?: unknown;
};

/** Entries that are no longer kept: from and to, both included. */
export type GapEntry = { readonly type: "gap"; readonly from: number; readonly to: number };

export type LedgerEntry = { readonly entry: number } & (RequestEntry | AppliedEntry);

/** One request that is being served. */
export type TrackedRequest = { readonly number: number; readonly arrived: number; readonly request: RequestInfo };

/** Entries kept, of about half a kilobyte each; the oldest are dropped first. */
export const ledgerLength = 100_000;

/** Characters of metadata that an entry keeps: so the ledger takes a hundred megabytes at most. */
const metadataLimit = 1024;

/** The record of applied changes and of answers to requests, as the server knows them. */
export class Ledger {
	readonly #ring: LedgerEntry[] = [];
	#next = 1;
	#counts = new Counts();

	get counts(): Counts {
		return this.#counts;
	}

	arrived(request: RequestInfo): TrackedRequest {
		return { number: this.#counts.addRequest(request.document), arrived: Date.now(), request };
	}

	answered({ number, arrived, request }: TrackedRequest, fault: FiredFault | null, status: number | null): void {
		this.#add({
			type: "request",
			request: number,
			time: new Date(arrived).toISOString(),
			method: request.method,
			path: request.url,
			document: request.document ?? null,
			request_id: requestId(request),
			fault,
			status,
		});
	}

	/** The commit of a change by a request, which is counted. */
	applied(tracked: TrackedRequest, change: Change): void {
		this.#counts.addChange(change);
		this.#addChange(tracked, change, change.action);
	}

	/** A change by a fault that takes an earlier one back. */
	lost(tracked: TrackedRequest, change: Change): void {
		this.#addChange(tracked, change, "lose");
	}

	/** Entries from a number on. Dropped entries are reported as a gap first. */
	*from(first: number): Generator<LedgerEntry | GapEntry> {
		const oldest = Math.max(1, this.#next - ledgerLength);
		const end = this.#next;
		if (first < oldest) yield { type: "gap", from: Math.max(first, 1), to: oldest - 1 };
		for (let entry = Math.max(first, oldest); entry < end; entry++) {
			const found = this.#ring[(entry - 1) % ledgerLength];
			if (found?.entry === entry) yield found;
		}
	}

	clear(): void {
		this.#ring.length = 0;
		this.#next = 1;
		this.#counts = new Counts();
	}

	#addChange({ number, request }: TrackedRequest, change: Change, action: AppliedEntry["action"]): void {
		this.#add({
			type: "applied",
			request: number,
			time: new Date().toISOString(),
			method: request.method,
			request_id: requestId(request),
			action,
			dataset: change.dataset,
			document: change.action === "create" ? null : change.document,
			...(change.action === "update" ? metadataOf(change.metadata) : {}),
		});
	}

	#add(entry: RequestEntry | AppliedEntry): void {
		const number = this.#next++;
		this.#ring[(number - 1) % ledgerLength] = { entry: number, ...entry };
	}
}

function requestId({ headers }: RequestInfo): string | null {
	const id = headers["x-request-id"];
	return typeof id === "string" ? id : null;
}

function metadataOf(text: string): Pick<AppliedEntry, "meta_sha256" | "meta_fields"> {
	const meta_sha256 = createHash("sha256").update(text).digest("hex");
	// The ledger is JSON, which has no word for NaN, although releases of RAGFlow store it.
	if (text.length > metadataLimit || hasNonFinite(text)) return { meta_sha256 };
	const meta_fields: unknown = JSON.parse(text);
	return { meta_sha256, meta_fields };
}

/** How often one document was updated and requested. */
export type DocumentCount = { readonly document: string; readonly updates: number; readonly requests: number };

/** Numbers kept for each document: its updates, then its requests. */
const numbersPerDocument = 2;

/**
 * How often each document was updated and requested.
 *
 * Exact even where the ledger has dropped entries. It grows with the documents that requests name, by about a hundred
 * bytes each.
 */
export class Counts {
	readonly #index = new Map<string, number>();
	#numbers = new Uint32Array(1024 * numbersPerDocument);
	#requests = 0;
	#applied = 0;

	totals(): { readonly requests: number; readonly applied: number } {
		return { requests: this.#requests, applied: this.#applied };
	}

	/** Returns the number of the request, from 1 on. */
	addRequest(document: string | undefined): number {
		if (document !== undefined) this.#add(document, 1);
		return ++this.#requests;
	}

	addChange(change: Change): void {
		this.#applied++;
		if (change.action === "update") this.#add(change.document, 0);
	}

	of(document: string): DocumentCount {
		const at = (this.#index.get(document) ?? -1) * numbersPerDocument;
		return { document, updates: this.#numbers[at] ?? 0, requests: this.#numbers[at + 1] ?? 0 };
	}

	*all(): Generator<DocumentCount> {
		for (const document of this.#index.keys()) yield this.of(document);
	}

	#add(document: string, which: 0 | 1): void {
		let index = this.#index.get(document);
		if (index === undefined) {
			index = this.#index.size;
			// Copied, because a slice of a URL would keep the whole URL in memory.
			this.#index.set(Buffer.from(document).toString(), index);
			if (index * numbersPerDocument >= this.#numbers.length) this.#grow();
		}
		const at = index * numbersPerDocument + which;
		this.#numbers[at] = (this.#numbers[at] ?? 0) + 1;
	}

	#grow(): void {
		const wider = new Uint32Array(this.#numbers.length * 2);
		wider.set(this.#numbers);
		this.#numbers = wider;
	}
}
