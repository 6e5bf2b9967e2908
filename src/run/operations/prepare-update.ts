import type { Metadata } from "../../json/values.ts";
import { type Change, keepsValue, metadataToSend } from "../../plan/change.ts";
import { rejected } from "../../rest/errors.ts";
import { refuseRounded } from "../documents/before-images.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { restErrorOf } from "../retry/request.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import { holds } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request, RowError, WhichDocument, Work } from "../types.ts";
import { notInDataset, type RowAttempt } from "./operation.ts";

/** A row with metadata for its document. */
export type UpdateItem = Work & { readonly metadata: Metadata };

/** Gives what a document has, by its ids. */
export type ById = Pick<DocumentSource, "byId">;

/** How the metadata to send is made of that of a row and what its document has. */
export type UpdatePlan = {
	readonly documents: ById;
	readonly change: Change;
};

export type PreparedUpdate = {
	readonly document: RemoteDocument;
	/** what the document has */
	readonly present: Metadata;
	/** what is to be sent */
	readonly metadata: Metadata;
	/** whether sending it would change nothing, by the known rules of the service */
	readonly isSame: boolean;
};

/**
 * Computes what a row sends to its document. A dry run shows it, and a run sends it. It writes nothing.
 *
 * @throws RestError if the document does not exist, or if a merge can't read exactly what to keep
 */
export async function prepareUpdate(
	service: Service,
	request: Request,
	item: UpdateItem,
	{ documents, change }: UpdatePlan,
): Promise<PreparedUpdate> {
	const document = await existingDocument({ service, request }, item, documents);
	const { documentId, metadata: wanted } = item;
	// Keys that no list shows would be removed.
	if (document.metadata === undefined && change.mode === "merge") {
		const text = "the list shows no metadata, so there is nothing to merge with; nothing was sent";
		throw rejected("NO_METADATA", text);
	}
	refuseRounded(service, documentId, document, (key) => keepsValue(change, key, wanted));
	// A document without metadata may be listed without the member.
	const present = document.metadata ?? new Map();
	const metadata = metadataToSend(change, present, wanted);
	return { document, present, metadata, isSame: holds(document, metadata, service.api.dialect.flavour.normalise) };
}

/**
 * The same documents, for one attempt of a row. The memory of the row gets the name of the one that it reads, also where
 * the row then fails. A document that an earlier attempt may have emptied is given with what it had before.
 */
export function seenDocuments(documents: ById, attempt: RowAttempt): ById {
	const { memory } = attempt;
	return {
		async byId(...which) {
			const document = await documents.byId(...which);
			memory.name = document?.name ?? memory.name;
			const isEmpty = (document?.metadata?.size ?? 0) === 0;
			const before = document === undefined || !isEmpty ? undefined : beforeFirstAttempt(attempt);
			return before === undefined ? document : { ...document, metadata: before };
		},
	};
}

/** What a document had before this run sent anything to it, where a refusal may have emptied it; undefined otherwise. */
export function beforeFirstAttempt({ service, item, memory, log }: RowAttempt): Metadata | undefined {
	if (!service.api.dialect.flavour.hasSearchEngine) return undefined;
	const own = memory.logged === undefined ? undefined : memory.beforeImage?.metadata;
	return own !== undefined && own.size > 0 ? own : log.earlier(item.index)?.sent?.before;
}

/** What a document has. @param end of the error's text. @throws RestError if its dataset does not list it */
export async function existingDocument(
	{ service, request }: Pick<RowAttempt, "service" | "request">,
	item: WhichDocument,
	documents: ById,
	end?: string,
): Promise<RemoteDocument> {
	const api = await service.known(request);
	const document = await documents.byId(api, request, item.datasetId, item.documentId);
	if (document === undefined) throw notInDataset(service, item, end);
	return document;
}

/** The error of a row whose document could not be read; undefined where the failure would be the same for another row. */
export function rowErrorOf(error: unknown): RowError | undefined {
	const answer = restErrorOf(error);
	return answer?.isRefusal === true ? { code: answer.code, text: answer.message } : undefined;
}
