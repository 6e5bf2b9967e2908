import { isNotJson } from "../../json/parse-json.ts";
import type { Metadata } from "../../json/values.ts";
import { DATABASE_AWAY, RestError } from "../../rest/errors.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import type { Api } from "../../rest/types.ts";
import type { Request } from "../types.ts";
import type { DocumentSource } from "./document-source.ts";
import { OTHER_CASE } from "./find-document.ts";
import { firstDocuments } from "./list.ts";
import type { RemoteDocument } from "./stored-documents.ts";

/** Times that reading a dataset may fail before its documents are written without a before-image. */
const FAILURES = 2;

/** Keys that a message names. */
const NAMED_KEYS = 10;

/** The words for a number that a double does not hold, and for a value that JSON has no text for. */
const ROUNDED = "a number that can't be kept exactly";
const NOT_JSON = "NaN or an infinity, which is no JSON and can't be sent back";

/** The parts of the service that reading documents needs. */
type ServiceContext = {
	known(request: Request): Promise<Api>;
	show(text: string): string;
	noteOnce(what: string, text: string): void;
};

export type BeforeImage = {
	/** the document in the list; undefined if the list does not have it */
	readonly document: RemoteDocument | undefined;
	/** the document's metadata; undefined if unknown: then its row can't be undone */
	readonly metadata: Metadata | undefined;
};

const UNKNOWN: BeforeImage = { document: undefined, metadata: undefined };

type Reading = { failures: number; last: unknown; shows?: Promise<boolean> };

/**
 * The metadata of documents before a run wrote them, so that it can be undone.
 *
 * A row never fails because its before-image is missing: the user asked for the write. The run warns once.
 */
export class BeforeImages {
	readonly #documents: Pick<DocumentSource, "byId">;
	readonly #service: ServiceContext;
	readonly #datasets = new Map<string, Reading>();

	constructor(documents: Pick<DocumentSource, "byId">, service: ServiceContext) {
		this.#documents = documents;
		this.#service = service;
	}

	/**
	 * @throws RestError if the row is to be retried, or the key is not trusted. Of code `OTHER_CASE` where the row would
	 * write a document that it does not name
	 */
	async of(request: Request, datasetId: string, documentId: string): Promise<BeforeImage> {
		const dataset = this.#datasets.get(datasetId) ?? { failures: 0, last: undefined };
		this.#datasets.set(datasetId, dataset);
		if (dataset.failures >= FAILURES) return UNKNOWN;
		try {
			const api = await this.#service.known(request);
			const document = await this.#documents.byId(api, request, datasetId, documentId);
			dataset.failures = 0;
			if (document === undefined) return UNKNOWN;
			if (document.metadata !== undefined) {
				return imageOf(this.#service, documentId, document, document.metadata);
			}
			// A document without metadata may be listed without the member; so may every document, whatever it has.
			dataset.shows ??= showsMetadata(this.#service, request, datasetId);
			// If the list shows no metadata, the canary has warned of that already.
			return { document, metadata: (await dataset.shows) ? new Map() : undefined };
		} catch (error) {
			delete dataset.shows;
			this.#failed(dataset, error);
			return UNKNOWN;
		}
	}

	/** @throws the error, unless the dataset counts as unreadable now */
	#failed(dataset: Reading, error: unknown): void {
		if (!(error instanceof RestError) || error.kind === "untrusted" || error.code === OTHER_CASE) throw error;
		// After an outage the list is readable again.
		const isTemporary = error.kind === "not_sent" || error.kind === "throttled" || error.kind === "doubted";
		if (isTemporary || error.code === DATABASE_AWAY) throw error;
		// Rows that waited for one list fail with one error: that is one failure.
		if (dataset.last !== error) dataset.failures += 1;
		dataset.last = error;
		if (error.kind !== "ambiguous") dataset.failures = FAILURES;
		if (dataset.failures < FAILURES) throw error;
		const text = `warning: ${error.message}, so previous values are not known and these rows can't be undone`;
		this.#service.noteOnce("NO_BEFORE_IMAGE", text);
	}
}

/**
 * Whether the list of a dataset shows metadata at all.
 *
 * A document without metadata may be listed without the member, so one document with metadata is enough. For an empty
 * dataset the answer is yes.
 */
export async function showsMetadata(service: ServiceContext, request: Request, datasetId: string): Promise<boolean> {
	const { items } = (await firstDocuments({ api: await service.known(request), request, datasetId })).first;
	return items.length === 0 || items.some(({ metadata }) => metadata !== undefined);
}

/**
 * Refuses to send back a number that came rounded, which would become another number, and `NaN`, which would become null.
 *
 * @param isKept whether the value of that key in the document is part of what is sent
 * @throws RestError of code `INEXACT_NUMBER`, or `NOT_JSON`
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
	const what = isJson ? ROUNDED : NOT_JSON;
	const others = isJson ? "" : ", and so can --mode replace without it";
	const text = `document ${service.show(documentId)} has ${what} (${which}); nothing was sent; a row that gives or deletes the key itself can be sent${others}`;
	throw new RestError(text, { kind: "rejected", code: isJson ? "INEXACT_NUMBER" : "NOT_JSON" });
}

/** The before-image of a document that has that metadata. Unknown where an undo may not write that back. */
export function imageOf(
	service: ServiceContext,
	documentId: string,
	document: RemoteDocument,
	present: Metadata,
): BeforeImage {
	// It may have had more than was shown, and an undo would remove that.
	if (document.isDoubted === true) return { document, metadata: undefined };
	if (document.inexact === undefined) return { document, metadata: present };
	warnOfInexact(service, documentId, document.inexact);
	return { document, metadata: undefined };
}

/** Warns that a row is sent although its document has values that can't be sent back. Once for each of the two causes. */
export function warnOfInexact(service: ServiceContext, documentId: string, inexact: InexactValues): void {
	for (const [key, text] of inexact) {
		const isJson = !isNotJson(text);
		const [what, shown] = isJson ? [ROUNDED, "rounded"] : [NOT_JSON, "as text"];
		const where = `document ${service.show(documentId)} has ${what} (key: ${service.show(key)})`;
		const then = `what such documents had is shown ${shown}, and their rows can't be undone`;
		service.noteOnce(isJson ? "INEXACT_NUMBER" : "NOT_JSON", `warning: ${where}: ${then}`);
	}
}

/** Keys of a document as a row's error names them: `title, topics`, and of many the first, `, and 3 more`. */
export function keysText(service: Pick<ServiceContext, "show">, keys: readonly string[]): string {
	const named = keys.slice(0, NAMED_KEYS).map((key) => service.show(key));
	const more = keys.length > NAMED_KEYS ? `, and ${keys.length - NAMED_KEYS} more` : "";
	return `${named.join(", ")}${more}`;
}
