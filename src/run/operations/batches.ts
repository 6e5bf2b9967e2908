import type { Api } from "../../rest/types.ts";
import { RetryTogether } from "../retry/retry.ts";
import type { Request } from "../types.ts";
import type { Memory } from "./operation.ts";

/** The service and the dataset of a batch, and the requests of the row that began it. */
export type BatchContext = { readonly api: Api; readonly request: Request; readonly datasetId: string };

type Waiting<Row> = { readonly row: Row; batch?: Promise<void> };

/** Rows of a dataset that are sent together. A batch is begun when it is full, or when no other row can be sent. */
export class Batches<Row> {
	readonly #most: (api: Api) => number;
	readonly #send: (context: BatchContext, rows: readonly Row[]) => Promise<void>;
	/** rows whose batch is not begun, by dataset */
	readonly #waiting = new Map<string, Waiting<Row>[]>();
	readonly #rows = new WeakMap<Memory, Waiting<Row>>();

	/**
	 * @param most rows of a batch
	 * @param send never rejects: each row gets its own end
	 */
	constructor(most: (api: Api) => number, send: (context: BatchContext, rows: readonly Row[]) => Promise<void>) {
		this.#most = most;
		this.#send = send;
	}

	/** The row of that memory, after its batch. @throws RetryTogether where it waits for others */
	async sent(context: BatchContext, memory: Memory, row: Row): Promise<Row> {
		const { datasetId, api } = context;
		const known = this.#rows.get(memory);
		if (known === undefined) {
			const added = { row };
			this.#rows.set(memory, added);
			const waiting = this.#waiting.get(datasetId) ?? [];
			this.#waiting.set(datasetId, waiting);
			if (waiting.push(added) >= this.#most(api)) this.#begin(context);
			throw new RetryTogether();
		}
		if (known.batch === undefined) this.#begin(context);
		await known.batch;
		this.#rows.delete(memory);
		return known.row;
	}

	/** Begins the batches of all rows of a dataset that wait. */
	#begin(context: BatchContext): void {
		const waiting = this.#waiting.get(context.datasetId) ?? [];
		this.#waiting.delete(context.datasetId);
		while (waiting.length > 0) {
			const some = waiting.splice(0, this.#most(context.api));
			const rows = some.map(({ row }) => row);
			const batch = this.#send(context, rows);
			for (const each of some) each.batch = batch;
		}
	}
}
