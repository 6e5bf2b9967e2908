import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import { READ_BACK_DELAYS_MS, readBack } from "../retry/retry.ts";
import { findDocument } from "../documents/pages.ts";
import type { Request } from "../types.ts";
import { keysText } from "../documents/keys-text.ts";
import type { Service } from "../service/service.ts";
import { SerialQueue } from "../service/serial-queue.ts";
import type { Work } from "../types.ts";

/**
 * Sees that keys go which an update does not carry. The documentation leaves open whether an update replaces what a
 * document has, and RAGFlow v0.24.0 on Elasticsearch merges (es.update in api/db/services/doc_metadata_service.py): it
 * answers success and keeps the keys. One document that has lost its keys is enough to know.
 */
export class RemovedKeys {
	readonly #service: Service;
	/** Rows in flight wait for the first of them: each would ask the same question. */
	readonly #turns = new SerialQueue();
	#isSeen = false;
	/** A document kept its keys however long the list was given: the next ones are read once. */
	#isKept = false;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Looks at a document that was written.
	 *
	 * @param before what it had; undefined where that is not known, and nothing can be checked
	 * @param sent what it was sent
	 * @throws RestError of code `KEYS_KEPT` where it still has what it was to lose
	 */
	async check(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		before: Metadata | undefined,
		sent: Metadata,
	): Promise<void> {
		const removed = Array.from(before?.keys() ?? []).filter((key) => !sent.has(key));
		if (removed.length === 0) return;
		await this.#turns.take(async () => {
			if (!this.#isSeen) await this.#readBack(request, { datasetId, documentId }, removed);
		});
	}

	async #readBack(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		removed: readonly string[],
	): Promise<void> {
		const service = this.#service;
		let kept: readonly string[] = [];
		const areGone = async (): Promise<boolean> => {
			const document = await findDocument(await service.known(request), request, datasetId, documentId);
			// What no list shows can't be judged; that is said of what is written, too.
			if (document === undefined) return false;
			kept = removed.filter((key) => document.metadata?.has(key) === true);
			return kept.length === 0;
		};
		const delays = this.#isKept ? READ_BACK_DELAYS_MS.slice(0, 1) : READ_BACK_DELAYS_MS;
		this.#isSeen = await readBack(areGone, { clock: service.clock, delays });
		if (kept.length === 0) return;
		this.#isKept = true;
		const text = `document ${service.show(documentId)} was written, and keeps keys that were to be removed (${keysText(service, kept)}): this service keeps what an update does not carry`;
		throw new RestError(text, { kind: "rejected", code: "KEYS_KEPT" });
	}
}
