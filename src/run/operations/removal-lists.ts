import { rejected, RestError } from "../../rest/errors.ts";
import type { Document } from "../../rest/types.ts";
import { findDocument, listMany, type ReadDocuments, readMany, type Wanted } from "../documents/find-document.ts";
import type { DatasetAccess } from "../documents/list.ts";
import { SMALL_PAGE } from "../documents/pages.ts";
import { readBack } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Work } from "../types.ts";
import type { OpenWork, RowAttempt } from "./operation.ts";

/** Waits before each read-back of a removal, in milliseconds: an index may show a document for longer than its database. */
const REMOVAL_DELAYS_MS = [0, 250, 1_000, 2_000, 4_000];

/** Waits before the two lists that a removal without a good answer takes: a list may lack a document for a moment. */
const LOST_DELAYS_MS = [0, 250];

/** Reads which documents of the rows of a removal their dataset lists. */
export class RemovalLists<Item extends Work> {
	readonly #rows: readonly OpenWork<Item>[];
	readonly #service: Service;
	readonly #dataset: DatasetAccess;
	/** documents of the dataset before the first removal, where all were listed */
	#size = 0;

	/** @param rows all that are removed while it is used */
	constructor(rows: readonly OpenWork<Item>[], { service, request }: Pick<RowAttempt, "service" | "request">) {
		this.#rows = rows;
		this.#service = service;
		this.#dataset = { api: service.api, request, datasetId: rows[0]?.item.datasetId ?? "" };
	}

	/** The documents of rows by their ids, or why one can't be read. Where a removal may have been applied, two lists say so. */
	async read(rows: readonly OpenWork<Item>[]): Promise<ReadDocuments> {
		const lost = rows.filter(({ memory }) => memory.maybeRemoved === true);
		const fresh = rows.filter((row) => !lost.includes(row));
		const wanted = this.#wanted(fresh);
		const listed = await listMany(wanted, this.#service.clock);
		if (this.#size === 0) this.#size = listed?.size ?? 0;
		return new Map([...(await readMany(wanted, listed)), ...(await this.#lost(lost))]);
	}

	/** Whether a document is listed whose removal had no good answer. */
	async isListed(row: OpenWork<Item>): Promise<boolean> {
		return (await this.#lost([row])).size > 0;
	}

	/** Waits until the list lacks the documents of rows. @returns the rows whose documents it still shows */
	async left(rows: readonly OpenWork<Item>[]): Promise<readonly OpenWork<Item>[]> {
		let left = rows;
		const areGone = async (): Promise<boolean> => {
			const listed = await this.#listed(left);
			left = left.filter(({ item }) => listed.has(item.documentId));
			return left.length === 0;
		};
		await readBack(areGone, { clock: this.#service.clock, delays: REMOVAL_DELAYS_MS });
		return left;
	}

	async isGone(row: OpenWork<Item>): Promise<boolean> {
		return (await this.left([row])).length === 0;
	}

	/** Another document of the dataset, which the removal of this one must leave there. */
	async neighbourOf({ id }: Document): Promise<string | undefined> {
		const { api, request, datasetId } = this.#dataset;
		const { removalsSent } = this.#service.canary;
		const pageSize = Math.min(SMALL_PAGE, 2 + removalsSent.size);
		const { items } = await request(() => api.listDocuments(datasetId, { page: 1, pageSize }));
		return items.find((other) => other.id !== id && !removalsSent.has(other.id))?.id;
	}

	/** @throws RestError of code `REMOVED_MORE` if the other document is missing as well */
	async checkNeighbour({ item, memory: { neighbour } }: OpenWork<Item>): Promise<void> {
		const { canary } = this.#service;
		if (neighbour === undefined || canary.removalsConfirmed.has(item.datasetId)) return;
		// Another row of this run may have removed it. That row checks a neighbour of its own.
		if (canary.removalsSent.has(neighbour)) return;
		if ((await findDocument(this.#dataset, neighbour)) !== undefined) return;
		canary.harm = removedMore(this.#service, item, neighbour);
		throw canary.harm;
	}

	/** The documents that one of two lists shows. */
	async #lost(rows: readonly OpenWork<Item>[]): Promise<ReadDocuments> {
		const found = new Map<string, Document | RestError>();
		const areFound = async (): Promise<boolean> => {
			const unseen = rows.filter(({ item }) => !found.has(item.documentId));
			for (const [id, document] of await this.#listed(unseen)) found.set(id, document);
			return rows.every(({ item }) => found.has(item.documentId));
		};
		if (rows.length > 0) await readBack(areFound, { clock: this.#service.clock, delays: LOST_DELAYS_MS });
		return found;
	}

	/**
	 * The documents of these rows that the dataset lists. A list that shows fewer documents than must be left is not believed:
	 * others were removed meanwhile, or it is not whole. Then each is asked for.
	 */
	async #listed(rows: readonly OpenWork<Item>[]): Promise<ReadDocuments> {
		const wanted = this.#wanted(rows);
		const listed = await listMany(wanted, this.#service.clock);
		const sent = this.#rows.filter(({ memory }) => memory.maybeRemoved === true).length;
		const isBelieved = (listed?.size ?? this.#size) >= this.#size - sent;
		return listed !== undefined && isBelieved ? listed.found : readMany(wanted);
	}

	#wanted(rows: readonly OpenWork<Item>[]): Wanted {
		return { ...this.#dataset, ids: rows.map(({ item }) => item.documentId) };
	}
}

/** RAGFlow's words for a removal that names an unknown document: it has removed none (v0.25.2 to v0.27, and v1.0). */
const NONE_REMOVED = /\bdo not belong to dataset\b/;

/** Whether the service has removed none of the documents that a removal names. */
export function hasRemovedNone(error: RestError): boolean {
	return error.isRefusal && NONE_REMOVED.test(error.message);
}

/**
 * Whether a refusal may follow an applied removal. RAGFlow removes the document from its database, then its file from
 * the storage. It answers 500 or 100 if that fails (delete in api/apps/sdk/doc.py, v0.15 to v0.24).
 */
export function mayFollowRemoval({ kind, code, message }: RestError): boolean {
	if (kind === "contradiction") return code === "CODE_100" && !/\b405\b/.test(message);
	return kind === "rejected" && code === "CODE_500";
}

/** The end of the error of a document that is not listed. */
export const NO_REMOVAL = "; no removal was sent";

/** The service has refused a removal of several documents because of this one, which was listed right before. */
export function goneMeanwhile(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `document ${service.show(documentId)} is no longer in dataset ${service.show(datasetId)}: another client removed it`;
	return rejected("NOT_FOUND", text);
}

export function notRemoved(service: Service, { datasetId, documentId }: Work): RestError {
	const text = `the service answered success to the removal of document ${service.show(documentId)}, and still lists it`;
	const isConfirmed = service.canary.removalsConfirmed.has(datasetId);
	return new RestError(text, { kind: isConfirmed ? "rejected" : "not_the_api", code: "NOT_REMOVED" });
}

/** The error of a removal after which another document is missing, too. */
function removedMore(service: Service, { datasetId, documentId }: Work, neighbour: string): RestError {
	const [named, other, dataset] = [documentId, neighbour, datasetId].map((id) => service.show(id));
	const text = `the removal of document ${named} alone was sent, and document ${other} of dataset ${dataset} is gone too: something between this machine and the service changes requests`;
	return new RestError(text, { kind: "not_the_api", code: "REMOVED_MORE" });
}
