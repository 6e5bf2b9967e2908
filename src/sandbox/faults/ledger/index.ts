import { createHash } from "node:crypto";
import type { RequestInfo } from "../request-info.ts";
import { holdsNoNumber } from "../../python-json.ts";
import type { Change } from "../../store/changes.ts";
import { Counts } from "./counts.ts";
import type { AppliedEntry, GapEntry, LedgerEntry, Met, RequestEntry } from "./entries.ts";

/** Entries held, of about half a kilobyte each; the oldest go first. */
export const ledgerLength = 100_000;

/** Characters of metadata that an entry keeps as they are: a hundred megabytes are the most that the ledger holds. */
const metadataLimit = 1024;

/** One request on its way. */
export type Ticket = { readonly number: number; readonly arrived: number; readonly asked: RequestInfo };

/** What was applied when, and what each request got: by the server's own knowledge, and not by a client's report. */
export class Ledger {
	readonly #ring: LedgerEntry[] = [];
	#next = 1;
	#counts = new Counts();

	get counts(): Counts {
		return this.#counts;
	}

	arrived(asked: RequestInfo): Ticket {
		this.#counts.requested(asked.document);
		return { number: this.#counts.requests, arrived: Date.now(), asked };
	}

	answered({ number, arrived, asked }: Ticket, fault: Met | null, status: number | null): void {
		this.#keep({
			type: "request",
			request: number,
			time: new Date(arrived).toISOString(),
			method: asked.method,
			path: asked.url,
			document: asked.document ?? null,
			request_id: requestId(asked),
			fault,
			status,
		});
	}

	applied({ number, asked }: Ticket, change: Change, action: AppliedEntry["action"] = change.action): void {
		if (action === change.action) this.#count(change);
		this.#keep({
			type: "applied",
			request: number,
			time: new Date().toISOString(),
			method: asked.method,
			request_id: requestId(asked),
			action,
			dataset: change.dataset,
			document: change.action === "create" ? null : change.document,
			...(change.action === "update" ? metadataOf(change.metadata) : {}),
		});
	}

	/** Entries from a number on. Where some of them are gone, it says so first. */
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

	#count(change: Change): void {
		this.#counts.applied++;
		if (change.action === "update") this.#counts.updated(change.document);
	}

	#keep(entry: RequestEntry | AppliedEntry): void {
		const number = this.#next++;
		this.#ring[(number - 1) % ledgerLength] = { entry: number, ...entry };
	}
}

function requestId({ headers }: RequestInfo): string | null {
	const given = headers["x-request-id"];
	return typeof given === "string" ? given : null;
}

function metadataOf(text: string): Pick<AppliedEntry, "meta_sha256" | "meta_fields"> {
	const meta_sha256 = createHash("sha256").update(text).digest("hex");
	// The ledger is JSON, which has no word for what releases of RAGFlow store all the same.
	if (text.length > metadataLimit || holdsNoNumber(text)) return { meta_sha256 };
	const meta_fields: unknown = JSON.parse(text);
	return { meta_sha256, meta_fields };
}
