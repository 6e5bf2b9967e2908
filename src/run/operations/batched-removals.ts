import pLimit, { type LimitFunction } from "p-limit";
import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import { PLAIN_ID } from "../documents/find-document.ts";
import { readBack, RetryTogether } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { type BatchContext, Batches } from "./batches.ts";
import type { Memory, SentLog } from "./operation.ts";

/** RAGFlow's words for a removal that names an unknown document: it has removed none (v0.25.2 to v0.27, and v1.0). */
const NONE_REMOVED = /\bdo not belong to dataset\b/;

/** Waits before each read-back of a removal, in milliseconds: an index may show a document for longer than its database. */
export const REMOVAL_DELAYS_MS = [0, 250, 1_000, 2_000, 4_000];

/** The wait before a document that a list did not show is read again, in milliseconds: a list may lack it for a moment. */
export const LISTED_AGAIN_MS = 250;

/** A row that is removed with others. */
type BatchedRow = {
	readonly item: Work;
	readonly memory: Memory;
	/** the reason to leave its document alone, by what a list shows of it now; undefined where it may be removed */
	readonly refuse: (document: Document) => RestError | undefined;
	/** its result, once there is one; `alone` where it must be removed by itself */
	end?: "removed" | "alone" | Error;
};

type RemovalContext = BatchContext & {
	readonly service: Service;
	readonly log: SentLog;
	/** removals are sent one after another */
	readonly turn: LimitFunction;
};

/** Removes the documents of many rows by few requests, where the service removes all that a request names, or none. */
export class BatchedRemovals {
	readonly #service: Service;
	readonly #batches: Batches<BatchedRow>;
	#areTaken: Promise<boolean> | undefined;
	/** documents that a request names at most; no limit but the flavour's unless an answer was lost */
	#most = Number.POSITIVE_INFINITY;

	constructor(service: Service, log: SentLog) {
		this.#service = service;
		// A server may remove one request at a time: a second one would only wait there until its time is up.
		const turn = pLimit(1);
		const most = ({ dialect: { flavour } }: Api): number => Math.min(this.#most, flavour.removesMany?.most ?? 1);
		this.#batches = new Batches(most, async (context, rows) => {
			const isLost = await removeBatch({ ...context, service, log, turn }, rows);
			// The service may need longer for so many than an answer is waited for.
			this.#most = isLost ? Math.ceil(rows.length / 2) : this.#most * 2;
		});
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
		return (
			memory.batch !== "alone" && this.#service.canary.removalsConfirmed.has(datasetId) && PLAIN_ID.test(documentId)
		);
	}

	/**
	 * Removes the document of a row with those of others.
	 *
	 * @throws RetryTogether where the row waits for others, and where its next attempt must remove it by itself
	 * @throws RestError
	 */
	async remove(api: Api, request: Request, row: BatchedRow): Promise<void> {
		const { memory, item } = row;
		memory.batch = "waiting";
		const { end } = await this.#batches.sent({ api, request, datasetId: item.datasetId }, memory, { ...row });
		memory.batch = end === "alone" ? "alone" : undefined;
		if (end instanceof Error) throw end;
		if (end === "alone") throw new RetryTogether();
	}
}

/** A row whose document a list shows now. */
type Shown = { readonly row: BatchedRow; readonly document: Document };

/**
 * Removes the documents of up to a hundred rows of one dataset. A list shows each of them before, and a row counts as removed
 * when a list lacks its document. Never rejects: each row has its own end, and what is uncertain is left to the row itself.
 *
 * @returns whether the answer to a removal was lost
 */
async function removeBatch(context: RemovalContext, rows: readonly BatchedRow[]): Promise<boolean> {
	let isLost = false;
	try {
		let open = await shown(context, rows);
		while (open.length > 0) {
			const sent = open;
			if (await context.turn(async () => send(context, await record(context, sent)))) {
				await confirm(context, open);
				break;
			}
			// The service removes nothing if it does not know one of the documents: the others are sent again.
			const left = await shown(
				context,
				open.map(({ row }) => row),
			);
			if (left.length === open.length) break;
			open = left;
		}
	} catch (error) {
		isLost = error instanceof RestError && error.kind === "ambiguous";
		for (const row of rows) row.end ??= error instanceof Error ? error : new Error(String(error));
	}
	for (const row of rows) row.end ??= "alone";
	return isLost;
}

/** The rows whose documents are listed now, and may be removed. Rows whose removal may have been applied need two lists. */
async function shown(context: RemovalContext, rows: readonly BatchedRow[]): Promise<readonly Shown[]> {
	const { clock } = context.service;
	const documents = await list(context, rows);
	const lost = rows.filter(({ item, memory }) => memory.maybeRemoved === true && !documents.has(item.documentId));
	if (lost.length > 0) {
		await clock.sleep(LISTED_AGAIN_MS);
		const again = await list(context, lost);
		for (const [id, document] of again) documents.set(id, document);
		for (const row of lost) if (!again.has(row.item.documentId)) row.end = "removed";
	}
	const found: Shown[] = [];
	for (const row of rows) {
		if (row.end !== undefined) continue;
		const document = documents.get(row.item.documentId);
		const refusal = document === undefined ? "alone" : row.refuse(document);
		if (refusal !== undefined) row.end = refusal;
		else if (document !== undefined) found.push({ row, document });
	}
	return found;
}

/** Records the removals. @returns those that may be sent; each other row ends with the reason */
async function record({ log }: RemovalContext, open: readonly Shown[]): Promise<readonly Shown[]> {
	const recorded = open.map(async ({ row, document }) => {
		const { item, memory } = row;
		memory.name = document.name;
		try {
			if (memory.isLogged !== true) await log.sending(item, { write: "remove", documentId: item.documentId });
			memory.isLogged = true;
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			row.end = error;
		}
	});
	await Promise.all(recorded);
	return open.filter(({ row }) => row.end === undefined);
}

/**
 * Sends one removal.
 *
 * @returns whether the service accepted it
 * @throws RestError where it is not known what became of it
 */
async function send({ api, request }: RemovalContext, open: readonly Shown[]): Promise<boolean> {
	if (open.length === 0) return true;
	const arrived = (): void => {
		for (const { row } of open) row.memory.maybeRemoved = true;
	};
	try {
		await request(() => api.removeTogether(open.map(({ document }) => document)));
	} catch (error) {
		const { kind, message } = error instanceof RestError ? error : {};
		const isRefused = kind === "rejected" || kind === "contradiction";
		if (kind !== "not_sent" && !(isRefused && NONE_REMOVED.test(message ?? ""))) arrived();
		if (isRefused) return false;
		throw error;
	}
	arrived();
	return true;
}

/** Waits until the list lacks the documents. */
async function confirm(context: RemovalContext, sent: readonly Shown[]): Promise<void> {
	let left = sent.map(({ row }) => row).filter(({ end }) => end === undefined);
	const areGone = async (): Promise<boolean> => {
		if (left.length === 0) return true;
		const documents = await list(context, left);
		for (const row of left) if (!documents.has(row.item.documentId)) row.end = "removed";
		left = left.filter(({ end }) => end === undefined);
		return left.length === 0;
	};
	await readBack(areGone, { clock: context.service.clock, delays: REMOVAL_DELAYS_MS });
}

/** The documents of these rows that the dataset lists now. */
async function list(
	{ api, request, datasetId }: RemovalContext,
	rows: readonly BatchedRow[],
): Promise<Map<string, Document>> {
	const ids = rows.map(({ item }) => item.documentId);
	const { items } = await request(() => api.listDocuments(datasetId, { page: 1, pageSize: ids.length, ids }));
	return new Map(items.map((document) => [document.id, document]));
}
