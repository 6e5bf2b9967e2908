import { CliError, Exit } from "../../errors.ts";
import type { TypedKeys } from "../../json/typed-keys.ts";
import type { Api } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { MAX_OUTAGE } from "../rate/outage.ts";
import { durationText } from "../stop/reasons.ts";
import type { Clock, Request } from "../types.ts";
import { type DoubtedPage, isDoubtful, Witnesses } from "./witnesses.ts";

/** Waits before a doubted page is read again, in milliseconds. The last one is repeated. */
const PAUSES_MS: readonly number[] = [250, 750, 1_000, 2_000];

/** Milliseconds for which a doubt lasts where no document has shown metadata. */
const DOUBTED_FOR_MS = 20_000;

const HINT =
	"Run the same command again when the search engine of the service works. If these documents have no metadata, `--mode replace` writes the same.";

/** What is done about a page of documents of which none shows metadata. */
export type Doubts = {
	/** milliseconds for which it is read again; where documents have shown metadata, `outage` is as long as an outage may last */
	readonly wait: number | "outage";
	/** after that time: the command ends, or the documents are marked, with a warning or without one */
	readonly end: "refuse" | "warn" | "mark";
};

/** For what decides about a write by what a document has. */
export const REFUSE: Doubts = { wait: "outage", end: "refuse" };

/** For what was written and is read back. */
export const AWAIT: Doubts = { wait: DOUBTED_FOR_MS, end: "mark" };

/** For what is only shown: two waits, then a warning. */
export const WARN: Doubts = { wait: 1_000, end: "warn" };

/** The same for what is recorded without being needed. */
export const MARK: Doubts = { wait: 1_000, end: "mark" };

/** The same without a wait. */
export const MARK_AT_ONCE: Doubts = { wait: 0, end: "mark" };

/** The parts of `Service` that it needs. */
type Notes = { readonly clock: Clock; note(text: string): void; noteOnce(what: string, text: string): void };

/**
 * Whether the metadata that lists show can be believed.
 *
 * RAGFlow from v0.24 on keeps metadata in a search engine, and takes a search that fails for one that finds nothing: the list
 * succeeds, and no document has metadata (api/db/services/doc_metadata_service.py, v0.24 to v0.27). So a page without any
 * metadata is doubted. It is believed once another document of the same key has shown metadata before and after it was read
 * again.
 */
export class Searches {
	readonly #service: Notes;
	readonly #maxOutage: number;
	readonly #witnesses = new Witnesses();
	readonly #pages = new WeakMap<object, DoubtedPage>();
	readonly #doubted = new WeakSet<object>();
	/** whether a service with PUT has a search engine, once it was asked */
	#hasEngine: Promise<boolean> | undefined;
	/** since when pages are waited for, on the clock */
	#waitingSince: number | undefined;
	/** whether a doubt has stayed, and no document has shown metadata since */
	#isSettled = false;
	/** whether lists without metadata are believed until a document shows some */
	isNoneBelieved = false;

	/** @param maxOutage `--max-outage` in milliseconds, where it was given */
	constructor(service: Notes, maxOutage: number = MAX_OUTAGE) {
		this.#service = service;
		this.#maxOutage = maxOutage;
	}

	/** The same API, whose lists are watched for documents that show metadata, and teach the types of keys where keys have some. */
	watching(api: Api, keys: TypedKeys): Api {
		const watched: Api = {
			...api,
			as: (dialect) => this.watching(api.as(dialect), keys),
			listDocuments: async (datasetId, query) => {
				const page = await api.listDocuments(datasetId, query);
				if (this.#witnesses.add(datasetId, page)) this.#isSettled = false;
				if (!api.dialect.flavour.hasSearchEngine) return page;
				for (const { metadata } of page.items) if (metadata !== undefined) keys.addDocument(metadata);
				if (isDoubtful(page)) this.#pages.set(page, { api: watched, datasetId, documents: page.items });
				return page;
			},
		};
		return watched;
	}

	/** The same requests, for lists by a watched API: a doubted page is asked for again, as `doubts` says. */
	believing(request: Request, doubts: Doubts): Request {
		return async (call) => {
			const answer = await request(call);
			const doubted = this.#doubtedPage(answer);
			if (doubted === undefined) return answer;
			return this.#settled(answer, doubted, { doubts, request, again: () => request(call) });
		};
	}

	/** The same document, marked where a doubt about its page has stayed. */
	marked<Found extends object>(document: Found): Found & { readonly isDoubted?: true } {
		return this.#doubted.has(document) ? { ...document, isDoubted: true } : document;
	}

	/** A document of a dataset that has shown metadata, and is none of these. */
	witnessOf(datasetId: string, others: ReadonlySet<string>): string | undefined {
		return this.#witnesses.of(datasetId, others);
	}

	/** Whether a document has shown metadata since a doubt stayed, so that doubted documents are worth another reading. */
	get canSettle(): boolean {
		return this.#witnesses.areKnown && !this.#isSettled;
	}

	/**
	 * Waits while no document shows metadata, although some have shown it: then the whole search engine is away.
	 *
	 * @param accepts whether the engine takes what it had taken before: perhaps no document is left that has metadata
	 * @returns whether it was away
	 * @throws CliError exit 6 where it is away for longer than an outage may last
	 */
	async wasAway(page: DoubtedPage, request: Request, accepts: () => Promise<boolean>): Promise<boolean> {
		const { clock } = this.#service;
		if (!this.#witnesses.areKnown) return false;
		const since = clock.now();
		for (let tries = 0; !(await this.#witnesses.show(page, request)); tries += 1) {
			if (await accepts()) return true;
			if (!(await this.#pause(page, REFUSE, { tries, since }))) throw hidden(page.datasetId);
		}
		return this.#believed(this.#waitingSince !== undefined);
	}

	#doubtedPage(answer: unknown): DoubtedPage | undefined {
		return typeof answer === "object" && answer !== null ? this.#pages.get(answer) : undefined;
	}

	async #settled<Answer>(
		first: Answer,
		doubted: DoubtedPage,
		{ doubts, request, again }: Asking<Answer>,
	): Promise<Answer> {
		const { clock } = this.#service;
		const isNone = this.isNoneBelieved && !this.#witnesses.areKnown;
		if (isNone || !(await this.#mayHide(doubted, request, doubts))) return first;
		const since = clock.now();
		let [answer, page] = [first, doubted];
		const showsSomeNow = async (): Promise<boolean> => {
			answer = await again();
			const still = this.#doubtedPage(answer);
			page = still ?? page;
			return still === undefined;
		};
		for (let tries = 0; ; tries += 1) {
			const isWorthALook = doubts.end === "refuse" || (tries === 0 && !this.#isSettled);
			if (isWorthALook && (await this.#witnesses.show(page, request))) {
				// Otherwise it was read between two moments at which searches worked.
				if ((await showsSomeNow()) || (await this.#witnesses.show(page, request))) return this.#believed(answer);
			}
			if (!(await this.#pause(page, doubts, { tries, since }))) return this.#stayed(answer, page, doubts);
			if (await showsSomeNow()) return this.#believed(answer);
		}
	}

	/**
	 * Whether the service has a search engine. Of the releases with PUT, only v0.24 has. A body in the plain form shows it:
	 * v0.24 does not understand it, earlier releases do (`_coerce_request_data` in api/utils/api_utils.py). It is asked about a
	 * document that does not exist.
	 */
	#mayHide({ api, datasetId }: DoubtedPage, request: Request, { end }: Doubts): Promise<boolean> {
		const { flavour } = api.dialect;
		if (flavour.update.verb !== "PUT") return Promise.resolve(true);
		// A command that only shows what documents have sends no update, not even one of no document.
		if (end === "warn") return this.#hasEngine ?? Promise.resolve(false);
		const plain = api.as({ flavour, form: "plain" });
		return (this.#hasEngine ??= request(() => plain.probeRight(datasetId)).then(
			(right) => right === "unknown",
			() => true,
		));
	}

	/** Waits before another attempt. Resolves with false where the time is over. */
	async #pause(
		{ datasetId }: DoubtedPage,
		doubts: Doubts,
		{ tries, since }: { readonly tries: number; readonly since: number },
	): Promise<boolean> {
		// Without a document that shows metadata, the same question would get the same answer for every page.
		if (this.#isSettled && doubts.end !== "refuse") return false;
		const { clock } = this.#service;
		const longest = this.#longest(doubts);
		const left = longest - (clock.now() - since);
		if (left <= 0) return false;
		if (doubts.end === "refuse" && this.#waitingSince === undefined) {
			this.#waitingSince = clock.now();
			this.#service.note(
				`${noneShown(datasetId)}; the search engine of the service may be failing: waiting for it, ${durationText(longest)} at most.`,
			);
		}
		await clock.sleep(Math.min(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0, left));
		return true;
	}

	#longest({ wait }: Doubts): number {
		if (wait !== "outage") return wait;
		return this.#witnesses.areKnown ? this.#maxOutage : Math.min(DOUBTED_FOR_MS, this.#maxOutage);
	}

	#believed<Answer>(answer: Answer): Answer {
		const { clock } = this.#service;
		if (this.#waitingSince !== undefined) {
			const lasted = durationText(clock.now() - this.#waitingSince);
			this.#service.note(`The service shows metadata again after ${lasted}: going on.`);
		}
		this.#waitingSince = undefined;
		return answer;
	}

	#stayed<Answer>(answer: Answer, { datasetId, documents }: DoubtedPage, { end }: Doubts): Answer {
		if (end === "refuse") throw hidden(datasetId);
		this.#isSettled = true;
		for (const document of documents) this.#doubted.add(document);
		if (end === "warn") {
			const text = `warning: ${noneShown(datasetId)}; if some have it, the search engine of the service is failing`;
			this.#service.noteOnce("METADATA_DOUBTED", text);
		}
		return answer;
	}
}

type Asking<Answer> = { readonly doubts: Doubts; readonly request: Request; readonly again: () => Promise<Answer> };

/** The error that ends a command which must know what the documents of a dataset have. */
export function hidden(datasetId: string): CliError {
	const text = `${noneShown(datasetId)}; the search engine of the service may be failing, so it is not known what the documents have`;
	return new CliError(text, { exit: Exit.temporary, hint: HINT });
}

function noneShown(datasetId: string): string {
	return `no document of dataset ${show(datasetId)} that was asked for shows metadata, nor does any other document`;
}
