import type { Metadata } from "../../json/values.ts";
import { DATABASE_AWAY, RestError } from "../../rest/errors.ts";
import { OTHER_CASE } from "./other-case.ts";
import { restorable } from "./inexact.ts";
import type { ServiceVoice } from "./service-voice.ts";
import type { Request } from "../types.ts";
import type { DocumentSource } from "./document-source.ts";
import { showsMetadata } from "./readable.ts";
import type { RemoteDocument } from "./stored-documents.ts";

/** Times that reading a dataset may fail before its documents are written without knowing what they had. */
const FAILURES = 2;

export type BeforeImage = {
	/** as a list showed the document; undefined where it was not seen */
	readonly document: RemoteDocument | undefined;
	/** what the document had, undefined where that is not known: its row can't be undone then */
	readonly metadata: Metadata | undefined;
};

const UNKNOWN: BeforeImage = { document: undefined, metadata: undefined };

/**
 * What documents had before a run wrote them, so that it can be undone.
 *
 * A row is never failed for want of it: writing is what was asked for. Where it can't be read the run says so, once.
 */
export class BeforeImages {
	readonly #present: Pick<DocumentSource, "byId">;
	readonly #service: ServiceVoice;
	readonly #datasets = new Map<string, { failures: number; last: unknown; shows?: Promise<boolean> }>();
	#isTold = false;

	constructor(present: Pick<DocumentSource, "byId">, service: ServiceVoice) {
		this.#present = present;
		this.#service = service;
	}

	/**
	 * @throws RestError where the service is not there, asks to come later or does not trust the key: the row's own business.
	 * Of code `OTHER_CASE` where the row would write a document that it does not name
	 */
	async of(request: Request, datasetId: string, documentId: string): Promise<BeforeImage> {
		const dataset = this.#datasets.get(datasetId) ?? { failures: 0, last: undefined };
		this.#datasets.set(datasetId, dataset);
		if (dataset.failures >= FAILURES) return UNKNOWN;
		try {
			const api = await this.#service.known(request);
			const document = await this.#present.byId(api, request, datasetId, documentId);
			dataset.failures = 0;
			if (document === undefined) return UNKNOWN;
			if (document.metadata !== undefined) {
				return { document, metadata: restorable(this.#service, documentId, document, document.metadata) };
			}
			// A document that never had any may be listed without the member; so may all of them, whatever they have.
			dataset.shows ??= showsMetadata(this.#service, request, datasetId);
			if (await dataset.shows) return { document, metadata: new Map() };
			// That it does not is said of what is written, too: once is enough.
			return { document, metadata: undefined };
		} catch (error) {
			delete dataset.shows;
			if (!(error instanceof RestError) || error.kind === "untrusted" || error.code === OTHER_CASE) throw error;
			const isPassing = error.kind === "not_sent" || error.kind === "throttled" || error.kind === "doubted";
			// Once its database is back, it shows what documents had.
			if (isPassing || error.code === DATABASE_AWAY) throw error;
			// Rows that waited for one list fail by one error: that is one failure.
			if (dataset.last !== error) dataset.failures += 1;
			dataset.last = error;
			if (error.kind !== "ambiguous") dataset.failures = FAILURES;
			if (dataset.failures < FAILURES) throw error;
			this.#tell(error.message);
			return UNKNOWN;
		}
	}

	#tell(why: string): void {
		if (this.#isTold) return;
		this.#isTold = true;
		this.#service.note(`warning: ${why}, so what documents had before is not known, and their rows can't be undone`);
	}
}
