import type { Metadata } from "../../json.ts";
import { RestError } from "../../rest/errors.ts";
import { LAGS } from "../lags.ts";
import { findDocument, type Request } from "../pages.ts";
import { keysText } from "../service/keys-text.ts";
import type { Service } from "../service/service.ts";
import type { Work } from "../types.ts";

/**
 * Sees that keys go which an update does not carry. The documentation leaves open whether an update replaces what a
 * document has: a service may answer success and keep them. One document that has lost its keys is enough to know.
 */
export class RemovedKeys {
	readonly #service: Service;
	#isSeen = false;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Looks at a document that was written.
	 *
	 * @param before what it had
	 * @param sent what it was sent
	 * @throws RestError of code `KEYS_KEPT` where it still has what it was to lose
	 */
	async check(
		request: Request,
		{ datasetId, documentId }: Pick<Work, "datasetId" | "documentId">,
		before: Metadata,
		sent: Metadata,
	): Promise<void> {
		const removed = Array.from(before.keys()).filter((key) => !sent.has(key));
		if (this.#isSeen || removed.length === 0) return;
		const service = this.#service;
		let kept: readonly string[] = [];
		for (const lag of LAGS) {
			await service.clock.sleep(lag);
			const document = await findDocument(await service.known(request), request, datasetId, documentId);
			// What no list shows can't be judged; that is said of what is written, too.
			if (document === undefined) continue;
			kept = removed.filter((key) => document.metadata?.has(key) === true);
			if (kept.length > 0) continue;
			this.#isSeen = true;
			return;
		}
		if (kept.length === 0) return;
		const text = `document ${service.show(documentId)} was written, and keeps keys that were to be removed (${keysText(service, kept)}): this service keeps what an update does not carry`;
		throw new RestError(text, { kind: "rejected", code: "KEYS_KEPT" });
	}
}
