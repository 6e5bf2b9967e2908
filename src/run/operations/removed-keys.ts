import pLimit from "p-limit";
import { findDocument } from "../documents/find-document.ts";
import { MARK_AT_ONCE } from "../documents/searches.ts";
import { READ_BACK_DELAYS_MS, readBack } from "../retry/retry.ts";
import { keysKept } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request, WhichDocument } from "../types.ts";

/**
 * Checks that an update removes the keys that it does not carry. The documentation does not say whether an update
 * replaces what a document has, and RAGFlow v0.24.0 on Elasticsearch merges (es.update in
 * api/db/services/doc_metadata_service.py): it answers success and keeps the keys. One document that has lost its keys
 * is enough to know.
 */
export class RemovedKeys {
	readonly #service: Service;
	/** Rows in flight wait for the first of them: each would ask the same question. */
	readonly #queue = pLimit(1);
	#isConfirmed = false;
	/** A document kept its keys after all delays: the next documents are read once. */
	#isKept = false;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Reads back a document that was written.
	 *
	 * @param removed the keys that the update removes
	 * @throws RestError of code `KEYS_KEPT` where it still has keys that were to be removed
	 */
	async check(request: Request, { datasetId, documentId }: WhichDocument, removed: readonly string[]): Promise<void> {
		if (removed.length === 0) return;
		await this.#queue(async () => {
			if (this.#isConfirmed) return;
			const service = this.#service;
			let kept: readonly string[] = [];
			let isDoubted = false;
			const sure = service.searches.believing(request, MARK_AT_ONCE);
			const dataset = { api: await service.known(request), request: sure, datasetId };
			const areGone = async (): Promise<boolean> => {
				const document = await findDocument(dataset, documentId);
				// A document that no list shows can't be checked. The canary has warned of that already.
				if (document === undefined) return false;
				isDoubted = service.searches.marked(document).isDoubted === true;
				kept = removed.filter((key) => document.metadata?.has(key) === true);
				return kept.length === 0;
			};
			const delays = this.#isKept ? READ_BACK_DELAYS_MS.slice(0, 1) : READ_BACK_DELAYS_MS;
			this.#isConfirmed = (await readBack(areGone, { clock: service.clock, delays })) && !isDoubted;
			if (kept.length === 0) return;
			this.#isKept = true;
			throw keysKept(service, documentId, kept);
		});
	}
}
