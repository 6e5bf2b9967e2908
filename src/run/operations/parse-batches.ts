import pLimit from "p-limit";
import type { Run } from "../../rest/parsing.ts";
import { RestError } from "../../rest/errors.ts";
import type { ParsingStates } from "../documents/parsing-states.ts";
import { readBack } from "../retry/retry.ts";
import type { Clock, Work } from "../types.ts";
import { type BatchContext, Batches } from "./batches.ts";
import type { Memory } from "./operation.ts";

/** Documents of one request. A small batch is refused for few others, and the server queues it in a moment. */
const BATCH = 10;

/** A document that waits for the start of its parsing. */
type WaitingRow = {
	readonly item: Work;
	readonly memory: Memory;
	/** an error may be no `Error`: the reason why the run ends */
	end?: "started" | { readonly error: unknown };
};

/**
 * Starts the parsing of documents, a few of one dataset at a time. The answer is not believed, as some releases start a part
 * of what they refuse: each document is started when a list shows it at work, or done.
 */
export class ParseBatches {
	readonly #clock: Clock;
	readonly #states: ParsingStates;
	readonly #onStart: () => void;
	readonly #batches: Batches<WaitingRow>;
	/** rows of which a request was sent, whatever became of it */
	readonly #sent = new WeakSet<Memory>();

	/** @param onStart called before each request */
	constructor(clock: Clock, states: ParsingStates, onStart: () => void = () => undefined) {
		this.#onStart = onStart;
		this.#clock = clock;
		this.#states = states;
		// A document that is at work ends a request in its middle, so requests come one after another.
		const turn = pLimit(1);
		this.#batches = new Batches(
			() => BATCH,
			(context, rows) => turn(() => this.#startAll(context, rows)),
		);
	}

	/** Whether a request to start it was sent in an earlier attempt. */
	wasSent(memory: Memory): boolean {
		return this.#sent.has(memory);
	}

	/**
	 * Resolves when a list shows that the parsing of the document was started.
	 *
	 * @throws RetryTogether where it waits for the others of its batch
	 * @throws RestError
	 */
	async start(asking: Omit<BatchContext, "datasetId">, item: Work, memory: Memory): Promise<void> {
		const { datasetId } = item;
		const { end } = await this.#batches.sent({ ...asking, datasetId }, memory, { item, memory });
		if (typeof end === "object") throw end.error;
	}

	/** Never rejects: each row has its own end. */
	async #startAll(context: BatchContext, rows: readonly WaitingRow[]): Promise<void> {
		try {
			this.#onStart();
			const refused = await this.#send(context, rows);
			const left = await this.#left(context, rows, refused === undefined);
			// One of them is refused, and which is not always said.
			if (refused === undefined || rows.length === 1) {
				for (const row of left) row.end = { error: refused ?? notStarted(row.item) };
			} else if (left.length === rows.length) for (const row of left) await this.#startAll(context, [row]);
			else if (left.length > 0) await this.#startAll(context, left);
		} catch (error) {
			for (const row of rows) row.end ??= { error };
		}
	}

	/** @returns the refusal. @throws RestError where it is not known what became of the request */
	async #send({ api, request, datasetId }: BatchContext, rows: readonly WaitingRow[]): Promise<RestError | undefined> {
		const ids = rows.map(({ item }) => item.documentId);
		try {
			await request(() => {
				for (const { memory } of rows) this.#sent.add(memory);
				return api.parseDocuments(datasetId, ids);
			});
			return undefined;
		} catch (error) {
			if (error instanceof RestError && (error.kind === "rejected" || error.kind === "contradiction")) return error;
			throw error;
		}
	}

	/** The rows whose documents no list shows as started. A list may show the state before for a moment. */
	async #left(context: BatchContext, sent: readonly WaitingRow[], isAccepted: boolean): Promise<readonly WaitingRow[]> {
		const { api, request } = context;
		const look = async (): Promise<boolean> => {
			const since = this.#clock.now();
			for (const row of sent) {
				const document = await this.#states.now(api, request, row.item, since);
				if (document === undefined) row.end = { error: notListed(row.item) };
				else if (isStarted(document.parsing?.run, isAccepted)) row.end = "started";
			}
			return sent.every(({ end }) => end !== undefined);
		};
		if (isAccepted) await readBack(look, { clock: this.#clock });
		else await look();
		return sent.filter(({ end }) => end === undefined);
	}
}

/** After an accepted request a document may be done, or have failed, before a list shows it at work. */
function isStarted(run: Run | undefined, isAccepted: boolean): boolean {
	return run === "RUNNING" || (isAccepted && (run === "DONE" || run === "FAIL"));
}

export function notListed({ datasetId, documentId }: Work): RestError {
	const text = `document ${documentId} is not in dataset ${datasetId}`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}

function notStarted({ documentId }: Work): RestError {
	const text = `the service answered success to the parsing of document ${documentId}, and its list does not show it at work`;
	return new RestError(text, { kind: "rejected", code: "NOT_STARTED" });
}
