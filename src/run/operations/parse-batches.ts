import pLimit from "p-limit";
import type { Run } from "../../rest/parsing.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api } from "../../rest/types.ts";
import type { ParsingStates } from "../documents/parsing-states.ts";
import { readBack, RetryTogether } from "../retry/retry.ts";
import type { Clock, Request, Work } from "../types.ts";
import type { Memory } from "./operation.ts";

/** Documents of one request. A small batch is refused for few others, and the server queues it in a moment. */
const BATCH = 10;

/** A document that waits for the start of its parsing. */
type WaitingRow = {
	readonly item: Work;
	/** set when the batch is begun */
	batch: Promise<void> | undefined;
	/** whether a request to start it was sent, whatever became of it */
	wasSent: boolean;
	/** an error may be no `Error`: the reason why the run ends */
	end: "started" | { readonly error: unknown } | undefined;
};

type Context = { readonly api: Api; readonly request: Request; readonly datasetId: string };

/**
 * Starts the parsing of documents, a few of one dataset at a time. The answer is not believed, as some releases start a part
 * of what they refuse: each document is started when a list shows it at work, or done.
 */
export class ParseBatches {
	readonly #clock: Clock;
	readonly #states: ParsingStates;
	readonly #waiting = new Map<string, WaitingRow[]>();
	readonly #rows = new WeakMap<Memory, WaitingRow>();
	/** a document that is at work ends a request in its middle, so requests come one after another */
	readonly #turn = pLimit(1);

	readonly #onStart: () => void;

	/** @param onStart called before each request */
	constructor(clock: Clock, states: ParsingStates, onStart: () => void = () => undefined) {
		this.#onStart = onStart;
		this.#clock = clock;
		this.#states = states;
	}

	/** Whether a request to start it was sent in an earlier attempt. */
	wasSent(memory: Memory): boolean {
		return this.#rows.get(memory)?.wasSent === true;
	}

	/**
	 * Resolves when a list shows that the parsing of the document was started.
	 *
	 * @throws RetryTogether where it waits for the others of its batch
	 * @throws RestError
	 */
	async start({ api, request }: Omit<Context, "datasetId">, item: Work, memory: Memory): Promise<void> {
		const { datasetId } = item;
		const waits = this.#rows.get(memory);
		if (waits === undefined || waits.end !== undefined) {
			const waiting = this.#waiting.get(datasetId) ?? [];
			this.#waiting.set(datasetId, waiting);
			const added: WaitingRow = { item, batch: undefined, wasSent: waits?.wasSent === true, end: undefined };
			this.#rows.set(memory, added);
			if (waiting.push(added) >= BATCH) this.#begin({ api, request, datasetId });
			throw new RetryTogether();
		}
		if (waits.batch === undefined) this.#begin({ api, request, datasetId });
		await waits.batch;
		const { end } = this.#rows.get(memory) ?? waits;
		if (typeof end === "object") throw end.error;
	}

	#begin(context: Context): void {
		const rows = this.#waiting.get(context.datasetId) ?? [];
		this.#waiting.delete(context.datasetId);
		const batch = this.#turn(() => this.#startAll(context, rows));
		for (const row of rows) row.batch = batch;
	}

	/** Never rejects: each row has its own end. */
	async #startAll(context: Context, rows: readonly WaitingRow[]): Promise<void> {
		try {
			let open = rows;
			while (open.length > 0) {
				this.#onStart();
				const refused = await send(context, open);
				const left = await this.#left(context, open, refused === undefined);
				if (left.length === 0) return;
				if (refused === undefined) return left.forEach((row) => (row.end = { error: notStarted(row.item) }));
				// One of them is refused, and which is not always said.
				if (left.length === open.length && open.length === 1)
					return left.forEach((row) => (row.end = { error: refused }));
				if (left.length < open.length) open = left;
				else {
					for (const row of left) await this.#startAll(context, [row]);
					return;
				}
			}
		} catch (error) {
			for (const row of rows) row.end ??= { error };
		}
	}

	/** The rows whose documents no list shows as started. A list may show the state before for a moment. */
	async #left(context: Context, sent: readonly WaitingRow[], isAccepted: boolean): Promise<readonly WaitingRow[]> {
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

/** @returns the refusal. @throws RestError where it is not known what became of the request */
async function send({ api, request, datasetId }: Context, rows: readonly WaitingRow[]): Promise<RestError | undefined> {
	const ids = rows.map(({ item }) => item.documentId);
	try {
		await request(() => {
			for (const row of rows) row.wasSent = true;
			return api.parseDocuments(datasetId, ids);
		});
		return undefined;
	} catch (error) {
		if (error instanceof RestError && (error.kind === "rejected" || error.kind === "contradiction")) return error;
		throw error;
	}
}

export function notListed({ datasetId, documentId }: Work): RestError {
	const text = `document ${documentId} is not in dataset ${datasetId}`;
	return new RestError(text, { kind: "rejected", code: "NOT_FOUND" });
}

function notStarted({ documentId }: Work): RestError {
	const text = `the service answered success to the parsing of document ${documentId}, and its list does not show it at work`;
	return new RestError(text, { kind: "rejected", code: "NOT_STARTED" });
}
