import type { Api } from "../../rest/types.ts";
import { RetryTogether } from "../retry/retry.ts";
import { SerialQueue } from "../service/canary.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import type { Memory } from "./operation.ts";
import { type BatchedRow, removeBatch } from "./removal-batch.ts";
import type { SentLog } from "./sent-log.ts";

/** Ids of which a hundred fit into what a proxy takes as an address. */
const PLAIN_ID = /^[\w-]{1,64}$/;

/** A row that waits for others, or for its batch once that is begun. */
type WaitingRow = BatchedRow & { batch: Promise<void> | undefined };

/**
 * Removes the documents of many rows by few requests, where the service removes all that a request names, or none.
 *
 * A batch is begun when it is full, or when no other row can be sent.
 */
export class BatchedRemovals {
	readonly #service: Service;
	readonly #log: SentLog;
	/** rows whose batch is not begun, by dataset */
	readonly #waiting = new Map<string, WaitingRow[]>();
	readonly #rows = new WeakMap<Memory, WaitingRow>();
	/** a server may remove one request at a time: a second one would only wait there until its time is up */
	readonly #turn = new SerialQueue();
	#areTaken: Promise<boolean> | undefined;
	/** documents that a request names at most; no limit but the flavour's unless an answer was lost */
	#most = Number.POSITIVE_INFINITY;

	constructor(service: Service, log: SentLog) {
		this.#service = service;
		this.#log = log;
	}

	/** Whether the service removes several documents at once. It is asked once, by a request that changes nothing. */
	async areTaken(api: Api, request: Request): Promise<boolean> {
		const { removesMany } = api.dialect.flavour;
		if (removesMany === undefined) return false;
		const asked = (this.#areTaken ??= request(() => api.probeUpdate("PUT")).then(removesMany.isSeenBy));
		asked.catch(() => (this.#areTaken = undefined));
		return asked;
	}

	/** Whether a row is removed with others: one of its dataset was removed, and no batch has left this one over. */
	takes({ datasetId, documentId }: Work, memory: Memory): boolean {
		return memory.batch !== "alone" && this.#service.canary.isRemovalConfirmed(datasetId) && PLAIN_ID.test(documentId);
	}

	/**
	 * Removes the document of a row with those of others.
	 *
	 * @throws RetryTogether where the row waits for others, and where its next attempt must remove it by itself
	 * @throws RestError
	 */
	async remove(api: Api, request: Request, row: BatchedRow): Promise<void> {
		const { memory, item } = row;
		const waits = this.#rows.get(memory);
		if (waits === undefined) {
			this.#wait(api, request, row);
			throw new RetryTogether();
		}
		if (waits.batch === undefined) this.#begin(api, request, item.datasetId);
		await waits.batch;
		this.#rows.delete(memory);
		const { end } = waits;
		memory.batch = end === "alone" ? "alone" : undefined;
		if (end instanceof Error) throw end;
		if (end === "alone") throw new RetryTogether();
	}

	#wait(api: Api, request: Request, row: BatchedRow): void {
		const { memory, item } = row;
		memory.batch = "waiting";
		const added = { ...row, batch: undefined };
		this.#rows.set(memory, added);
		const waiting = this.#waiting.get(item.datasetId) ?? [];
		this.#waiting.set(item.datasetId, waiting);
		if (waiting.push(added) >= this.#atOnce(api)) this.#begin(api, request, item.datasetId);
	}

	#atOnce({ dialect: { flavour } }: Api): number {
		return Math.min(this.#most, flavour.removesMany?.most ?? 1);
	}

	/** Begins the batches of all rows of a dataset that wait. */
	#begin(api: Api, request: Request, datasetId: string): void {
		const waiting = this.#waiting.get(datasetId) ?? [];
		this.#waiting.delete(datasetId);
		while (waiting.length > 0) {
			const rows = waiting.splice(0, this.#atOnce(api));
			const context = { service: this.#service, log: this.#log, turn: this.#turn, api, request, datasetId };
			const batch = removeBatch(context, rows).then((isLost) => {
				// The service may need longer for so many than an answer is waited for.
				this.#most = isLost ? Math.ceil(rows.length / 2) : this.#most * 2;
			});
			for (const row of rows) row.batch = batch;
		}
	}
}
