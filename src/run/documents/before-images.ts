import type { Metadata } from "../../json/values.ts";
import { DATABASE_AWAY, RestError } from "../../rest/errors.ts";
import { OTHER_CASE } from "./find-document.ts";
import type { Request } from "../types.ts";
import type { DocumentSource } from "./document-source.ts";
import type { RemoteDocument } from "./stored-documents.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import type { Api } from "../../rest/types.ts";
import { firstDocuments } from "./list.ts";
import { isNotJson } from "../../json/not-json.ts";

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
	readonly #service: ServiceContext;
	readonly #datasets = new Map<string, { failures: number; last: unknown; shows?: Promise<boolean> }>();
	#isTold = false;

	constructor(present: Pick<DocumentSource, "byId">, service: ServiceContext) {
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

/** What reading documents needs of the service: the API in its flavour, and words for the user. `run/service` implements it. */
export type ServiceContext = {
	/** the service in the flavour that is known, which is detected first where it is not */
	known(request: Request): Promise<Api>;
	/** foreign text, made safe to print */
	show(text: string): string;
	note(text: string): void;
	/** a note that is given once for each `what` */
	noteOnce(what: string, text: string): void;
};

/** Keys that a message names. */
const NAMED = 10;

/** Keys of a document as a row's error names them: `title, topics`, and of many the first, `, and 3 more`. */
export function keysText(service: Pick<ServiceContext, "show">, keys: readonly string[]): string {
	const named = keys.slice(0, NAMED).map((key) => service.show(key));
	const more = keys.length > NAMED ? `, and ${keys.length - NAMED} more` : "";
	return `${named.join(", ")}${more}`;
}

/**
 * Whether the list of a dataset shows metadata at all.
 *
 * A document that never had any may be listed without, so one that shows some is enough; of a dataset without documents
 * nothing is known that speaks against it.
 */
export async function showsMetadata(service: ServiceContext, request: Request, datasetId: string): Promise<boolean> {
	const { items } = (await firstDocuments(await service.known(request), request, datasetId)).first;
	return items.length === 0 || items.some(({ metadata }) => metadata !== undefined);
}

/** What a request has no word for. */
const NO_WORD = "NaN or an infinity, which is no JSON and can't be sent back";
const ROUNDED = "a number that can't be kept exactly";

/**
 * What a document has is part of what is sent. A number of it that came rounded would be written back as another one, and
 * of `NaN` a request would make null.
 *
 * @param isKept whether what the document has under a key is sent again
 * @throws RestError of code `INEXACT_NUMBER` where such a number is, `NOT_JSON` where there is none of JSON's
 */
export function refuseRounded(
	service: ServiceContext,
	documentId: string,
	{ inexact }: RemoteDocument,
	isKept: (key: string) => boolean,
): void {
	const kept = [...(inexact ?? [])].filter(([key]) => isKept(key));
	if (kept.length === 0) return;
	const isJson = kept.every(([, text]) => !isNotJson(text));
	const keys = kept.map(([key]) => key);
	const which = `${keys.length === 1 ? "key" : "keys"}: ${keysText(service, keys)}`;
	const what = isJson ? ROUNDED : NO_WORD;
	const others = isJson ? "" : ", and so can --mode replace without it";
	const text = `document ${service.show(documentId)} has ${what} (${which}); nothing was sent; a row that gives or deletes the key itself can be sent${others}`;
	throw new RestError(text, { kind: "rejected", code: isJson ? "INEXACT_NUMBER" : "NOT_JSON" });
}

/** What the document had, as it may be written back to undo the row; undefined, and said once, where it can't be. */
export function restorable<Metadata>(
	service: ServiceContext,
	documentId: string,
	{ inexact }: RemoteDocument,
	metadata: Metadata,
): Metadata | undefined {
	if (inexact === undefined) return metadata;
	tellInexact(service, documentId, inexact);
	return undefined;
}

/** A document has what can't be sent back, and its row is sent all the same. Said once for each of the two causes. */
export function tellInexact(service: ServiceContext, documentId: string, inexact: InexactValues): void {
	for (const [key, text] of inexact) {
		const isJson = !isNotJson(text);
		const [what, shown] = isJson ? [ROUNDED, "rounded"] : [NO_WORD, "as text"];
		const where = `document ${service.show(documentId)} has ${what} (key: ${service.show(key)})`;
		const then = `what such documents had is shown ${shown}, and their rows can't be undone`;
		service.noteOnce(isJson ? "INEXACT_NUMBER" : "NOT_JSON", `warning: ${where}: ${then}`);
	}
}
