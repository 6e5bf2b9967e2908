import pLimit from "p-limit";
import { MAX_CONCURRENCY } from "../../rates.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import { errorForGivenFlavour } from "../service/detect-flavour.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { notInDataset, type OpenWork, type Settled } from "./operation.ts";
import {
	goneMeanwhile,
	hasRemovedNone,
	mayFollowRemoval,
	NO_REMOVAL,
	notRemoved,
	RemovalLists,
} from "./removal-lists.ts";
import type { RemovalOptions } from "./remove.ts";

type Removing<Item extends Work> = RemovalOptions<Item> & {
	readonly service: Service;
	readonly request: Request;
	readonly areManyTaken: (request: Request) => Promise<boolean>;
};

/** A row whose document a list shows now. */
type Shown<Item extends Work> = { readonly row: OpenWork<Item>; readonly document: Document };

/** The end of a row, or `sent` where only a list can show whether its document is gone. */
type Step = Settled | "sent";

/** One attempt to remove the documents of rows of one dataset. */
export class Removals<Item extends Work> {
	readonly #rows: readonly OpenWork<Item>[];
	readonly #of: Removing<Item>;
	/** when it resolves, `#steps` has each row */
	readonly #begun: Promise<void>;
	readonly #steps = new Map<OpenWork<Item>, Promise<Step>>();
	/** the further steps of rows whose documents were to be removed with others */
	readonly #further = new Map<OpenWork<Item>, Promise<Step>>();
	readonly #turn = pLimit(MAX_CONCURRENCY);
	/** why the run has ended, where it has: then no further removal is recorded */
	#over: { readonly why: unknown } | undefined;
	readonly #lists: RemovalLists<Item>;
	/** the rows whose documents are still listed after all removals were sent */
	#kept: Promise<readonly OpenWork<Item>[]> | undefined;

	constructor(rows: readonly OpenWork<Item>[], removing: Removing<Item>) {
		this.#rows = rows;
		this.#of = removing;
		this.#lists = new RemovalLists(rows, removing);
		this.#begun = this.#begin();
		this.#begun.catch(() => undefined);
	}

	async end(row: OpenWork<Item>): Promise<Settled> {
		await this.#begun;
		const step = await this.#steps.get(row);
		if (typeof step === "object") return step;
		this.#kept ??= this.#notGone();
		if ((await this.#kept).includes(row)) throw notRemoved(this.#of.service, row.item);
		return removed(row);
	}

	async #begin(): Promise<void> {
		const { request, before, areManyTaken, service } = this.#of;
		const open: OpenWork<Item>[] = [];
		const check = async (row: OpenWork<Item>): Promise<void> => {
			const settled = await before?.(row, request);
			if (settled === undefined) open.push(row);
			else this.#ends(row, Promise.resolve(settled));
		};
		const checks = this.#rows.map((row) =>
			this.#turn(() => check(row)).catch((error: unknown) => this.#fails(row, error)),
		);
		await Promise.all(checks);
		const isBatched = open.length > 1 && (await areManyTaken(request));
		const [first, ...others] = await this.#shown(open);
		if (first === undefined) return;
		const isProven = (): boolean => service.canary.removalsConfirmed.has(first.row.item.datasetId);
		const proof = isProven() && isBatched ? undefined : this.#alone(first);
		if (isBatched) await proof?.catch(() => undefined);
		const rest = proof === undefined ? [first, ...others] : others;
		const most = isBatched && isProven() ? (service.api.dialect.flavour.removesMany?.most ?? 1) : 1;
		// The service may need longer for so many than an answer is waited for.
		const areMany = (each: Shown<Item>): boolean => most > 1 && each.row.memory.maybeRemoved !== true;
		for (const each of rest) if (!areMany(each)) void this.#alone(each);
		const many = rest.filter(areMany);
		let last: Promise<unknown> = Promise.resolve();
		for (let from = 0; from < many.length; from += most) last = this.#together(many.slice(from, from + most), last);
	}

	/** The rows whose documents are listed now, and may be removed. */
	async #shown(rows: readonly OpenWork<Item>[]): Promise<readonly Shown<Item>[]> {
		const { refuse } = this.#of;
		const documents = await this.#lists.read(rows);
		return rows.flatMap((row) => {
			const { item, memory } = row;
			const document = documents.get(item.documentId);
			if (document === undefined) this.#ends(row, this.#absent(row));
			const refusal = document instanceof RestError ? document : document && refuse?.(item, document);
			if (refusal !== undefined) this.#fails(row, refusal);
			if (document === undefined || document instanceof RestError || refusal !== undefined) return [];
			memory.name = document.name;
			return [{ row, document }];
		});
	}

	/** The end of a row whose document is not listed. */
	async #absent(row: OpenWork<Item>): Promise<Settled> {
		const { item, memory } = row;
		const { service } = this.#of;
		if (memory.maybeRemoved !== true) {
			throw memory.isLogged === true ? goneMeanwhile(service, item) : notInDataset(service, item, NO_REMOVAL);
		}
		// The removal whose answer was lost was applied. Check that it removed nothing else.
		await this.#lists.checkNeighbour(row);
		return removed(row);
	}

	/** Removes several documents by one request, after another one. */
	#together(some: readonly Shown<Item>[], last: Promise<unknown>): Promise<unknown> {
		const sent = last.then(() => this.#sendTogether(some));
		for (const { row } of some)
			this.#ends(
				row,
				sent.then(() => this.#further.get(row) ?? "sent"),
			);
		return sent;
	}

	async #sendTogether(some: readonly Shown<Item>[]): Promise<void> {
		const { service, request } = this.#of;
		const records = some.map(({ row }) => this.#record(row).catch((error: unknown) => this.#fails(row, error)));
		await Promise.all(records);
		const open = some.filter(({ row }) => !this.#further.has(row));
		if (open.length === 0) return;
		try {
			await request(() => service.api.removeTogether(open.map(({ document }) => document)));
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			if (error.kind !== "not_sent" && !hasRemovedNone(error)) this.#arrived(open);
			if (!error.isRefusal) throw error;
			// It may have removed some. Those that are still listed are removed one by one.
			for (const each of await this.#shown(open.map(({ row }) => row))) void this.#alone(each);
			return;
		}
		this.#arrived(open);
	}

	/** Removes the document of a row by itself. */
	#alone({ row, document }: Shown<Item>): Promise<Step> {
		const step = this.#turn(async () => {
			if (this.#over !== undefined) throw this.#over.why;
			const { service } = this.#of;
			const { api } = service;
			try {
				return await this.#remove(api, { row, document });
			} catch (error) {
				if (!(error instanceof RestError)) this.#over = { why: error };
				throw errorForGivenFlavour(error, service, api);
			}
		});
		this.#ends(row, step);
		return step;
	}

	/**
	 * Until one removal from a dataset is confirmed, each is sent alone, between two reads: the document must be missing, and a
	 * document that was not named must still exist.
	 *
	 * A proxy that loses the body of a DELETE turns "this document" into "all documents" on some releases. One request
	 * shows it, and the rest of the run is not sent.
	 */
	#remove(api: Api, { row, document }: Shown<Item>): Promise<Step> {
		const { canary } = this.#of.service;
		const { datasetId } = document;
		const { memory } = row;
		if (canary.removalsConfirmed.has(datasetId)) return this.#send(api, { row, document });
		return canary.alone(async () => {
			if (canary.harm !== undefined) throw canary.harm;
			if (canary.removalsConfirmed.has(datasetId)) return this.#send(api, { row, document });
			memory.neighbour ??= await this.#lists.neighbourOf(document);
			if ((await this.#send(api, { row, document })) === "sent" && !(await this.#lists.isGone(row)))
				throw notRemoved(this.#of.service, row.item);
			await this.#lists.checkNeighbour(row);
			// The only document of a dataset proves nothing, as no other could have been removed with it.
			if (memory.neighbour !== undefined && !canary.removalsSent.has(memory.neighbour))
				canary.removalsConfirmed.add(datasetId);
			return removed(row);
		});
	}

	async #send(api: Api, { row, document }: Shown<Item>): Promise<Step> {
		await this.#record(row);
		try {
			await this.#of.request(() => api.removeDocument(document));
		} catch (error) {
			// A run that ends before the request's turn has sent nothing.
			if (!(error instanceof RestError)) throw error;
			// A list that lags still shows what an earlier attempt has removed, and then this one is refused.
			if (error.isRefusal && row.memory.maybeRemoved === true && (await this.#lists.isGone(row))) return removed(row);
			const isApplied = mayFollowRemoval(error) && !(await this.#lists.isListed(row));
			// A proxy may have passed the request on before it answered.
			if (isApplied || (!error.isRefusal && error.kind !== "not_sent")) this.#arrived([{ row, document }]);
			if (isApplied) return removed(row);
			throw error;
		}
		// The reads that follow may fail: the next attempt must know that the removal was sent.
		this.#arrived([{ row, document }]);
		return "sent";
	}

	async #record({ item, memory }: OpenWork<Item>): Promise<void> {
		if (memory.isLogged !== true) await this.#of.log.sending(item, { write: "remove", documentId: item.documentId });
		memory.isLogged = true;
	}

	#arrived(sent: readonly Shown<Item>[]): void {
		const { removalsConfirmed, removalsSent } = this.#of.service.canary;
		for (const { row, document } of sent) {
			row.memory.maybeRemoved = true;
			if (!removalsConfirmed.has(document.datasetId)) removalsSent.add(document.id);
		}
	}

	/** Waits until the list lacks the documents of all rows that were sent. @returns the rows whose documents it still shows */
	async #notGone(): Promise<readonly OpenWork<Item>[]> {
		const steps = await Promise.allSettled(this.#steps.values());
		const sent = [...this.#steps.keys()].filter((_, at) => {
			const step = steps[at];
			return step?.status === "fulfilled" && step.value === "sent";
		});
		return this.#lists.left(sent);
	}

	#ends(row: OpenWork<Item>, step: Promise<Step>): void {
		step.catch(() => undefined);
		(this.#steps.has(row) ? this.#further : this.#steps).set(row, step);
	}

	#fails(row: OpenWork<Item>, error: unknown): void {
		this.#ends(row, Promise.reject(error instanceof Error ? error : new Error(String(error))));
	}
}

function removed<Item extends Work>({ item: { documentId } }: OpenWork<Item>): Settled {
	return { status: "removed", documentId };
}
