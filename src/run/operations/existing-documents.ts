import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { UploadFile } from "../../rest/types.ts";
import { restorable } from "../documents/before-images.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument, isSameName } from "../documents/find-document.ts";
import { MARK } from "../documents/searches.ts";
import type { Named, RemoteDocument } from "../documents/stored-documents.ts";
import { holds, missingKeys, refuseValues } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request } from "../types.ts";
import { namesakesMeant, type OnExisting, settledByExisting } from "./namesakes.ts";
import type { Replacing, Settled } from "./operation.ts";
import { notListed } from "./rename.ts";
import { beginReplacement, hasContentOf, readDocument, replacedMetadata } from "./replace.ts";
import { sized, type UploadAttempt, type UploadItem } from "./store-file.ts";
import type { RemovedKeys } from "./removed-keys.ts";
import { writeOrRestore } from "./update.ts";

/** What `--on-existing replace` does with the document that has a file's name. */
type Judged = {
	readonly what: "replace" | "update" | "nothing";
	readonly document: Named;
	/** what it is to have, or the document that takes its place */
	readonly metadata: Metadata;
};

type Judging = Pick<UploadAttempt, "service" | "api" | "request"> & {
	readonly item: Omit<UploadItem, "file"> & { readonly file: UploadFile };
	/** whether contents of equal size are compared, by a download */
	readonly checksum: boolean;
};

/**
 * Judges the document of a file's name by its size and, with `--checksum`, by its content. Sends nothing that writes.
 *
 * @param found the documents that the name means
 * @returns undefined where the name is free
 * @throws RestError where it is not certain which document is meant, or where its metadata can't be sent exactly
 */
export async function judgeNamesakes(judging: Judging, found: readonly Named[]): Promise<Judged | undefined> {
	const { service, item, checksum } = judging;
	const { file } = item;
	const [first, ...others] = found;
	if (first === undefined) return undefined;
	if (others.length > 0 || !isSameName(first.name, file.name)) {
		const ids = service.show(found.map(({ id }) => id).join(", "));
		const several = `the dataset has several documents called ${file.name}: ${ids}`;
		const alike = `the dataset has "${service.show(first.name)}", document ${ids}, which is the same name for this service as "${file.name}"`;
		const text = `${others.length > 0 ? several : alike}; none was replaced, and nothing of this row was sent`;
		throw new RestError(text, { kind: "rejected", code: "EXISTS" });
	}
	const isOtherSize = first.size !== undefined && first.size !== file.size;
	// A row without metadata asks nothing of a document that is as large as its file.
	if (!isOtherSize && !checksum && item.metadata.size === 0) {
		return { what: "nothing", document: first, metadata: new Map() };
	}
	const document = await readDocument(judging, first.id);
	if (document === undefined) throw notListed(service, item, first.id);
	const metadata = replacedMetadata(service, item, document);
	const isStale = isOtherSize || (checksum && !(await hasContentOf(judging, document, file.path)));
	if (isStale) return { what: "replace", document, metadata };
	const isSame = holds(document, metadata, judging.api.dialect.flavour.normalise);
	return { what: isSame || item.metadata.size === 0 ? "nothing" : "update", document, metadata };
}

/** The beginning of a replacement of a document that is known by its id. Nothing of it was sent yet. */
export async function beginKnownReplacement(
	attempt: UploadAttempt & { readonly item: UploadItem },
	id: string,
): Promise<Replacing> {
	const { service, item } = attempt;
	const old = await readDocument(attempt, id);
	if (old === undefined) throw notListed(service, item, id);
	return beginReplacement(attempt, id, replacedMetadata(service, item, old));
}

/** An attempt of an upload whose file's name a document has. */
type ExistingUpload = UploadAttempt & { readonly item: UploadItem; readonly removedKeys: RemovedKeys };

/** Writes the metadata of a document that was there before. */
export async function updateExisting(
	upload: ExistingUpload,
	found: readonly Named[],
	{ documentId }: Settled,
	metadata: Metadata,
): Promise<void> {
	const { request, item, memory, log, removedKeys } = upload;
	const { datasetId } = item;
	const before = await beforeImage(upload, found[0]);
	if (memory.isLogged !== true) {
		await log.sending(item, { write: "update", documentId, metadata, before });
	}
	memory.isLogged = true;
	memory.logged = metadata;
	await writeOrRestore(upload, { datasetId, documentId, metadata }, before);
	await removedKeys.check(request, { datasetId, documentId }, missingKeys(found[0]?.metadata, metadata));
}

/** What an existing document has before it is written; undefined where that is not known, or can't be sent back. */
async function beforeImage(
	{ service, request, item: { datasetId } }: ExistingUpload,
	found: Named | undefined,
): Promise<Metadata | undefined> {
	if (found === undefined) return undefined;
	const { api, searches } = service;
	if (found.metadata?.size !== 0 || !api.dialect.flavour.hasSearchEngine) {
		return restorable(service, found.id, found, found.metadata);
	}
	const again = await findDocument(api, searches.believing(request, MARK), datasetId, found.id);
	if (again === undefined || searches.marked(again).isDoubted === true) return undefined;
	return restorable(service, found.id, again, again.metadata);
}

type PreviewOptions = {
	readonly onExisting: OnExisting;
	readonly checksum?: boolean;
	readonly documents: Pick<DocumentSource, "byName">;
};

/** The effect of an upload. `present` is the metadata that it would replace, and `metadata` all that the document has then. */
type UploadPreview =
	| { readonly action: "none"; readonly documentId: string }
	| {
			readonly action: "upload" | "update" | "replace";
			readonly documentId: string;
			readonly present: Metadata;
			readonly inexact?: RemoteDocument["inexact"];
			readonly metadata: Metadata;
	  };

/**
 * Whether a document of the file's name is there, and what `--on-existing` makes of the row then. It writes nothing.
 *
 * @throws RestError where the row would fail for it
 */
export async function previewUpload(
	service: Service,
	request: Request,
	item: UploadItem,
	{ onExisting, checksum = false, documents }: PreviewOptions,
): Promise<UploadPreview> {
	const api = await service.known(request);
	const { name } = item.file;
	const found = namesakesMeant(await documents.byName(api, request, item.datasetId, name), name);
	const withSize = { ...item, file: await sized(item) };
	if (onExisting === "replace" && found.length > 0) {
		const judged = await judgeNamesakes({ service, api, request, item: withSize, checksum }, found);
		if (judged !== undefined) {
			const { what, document, metadata } = judged;
			if (what === "nothing") return { action: "none", documentId: document.id };
			refuseValues(service, metadata);
			return { action: what, documentId: document.id, present: document.metadata ?? new Map(), metadata };
		}
	}
	const settled = onExisting === "replace" ? undefined : settledByExisting(service, onExisting, found, withSize);
	if (settled === undefined) {
		refuseValues(service, item.metadata);
		return { action: "upload", documentId: "", present: new Map(), metadata: item.metadata };
	}
	const { documentId, status } = settled;
	const document: RemoteDocument = found[0] ?? { metadata: undefined };
	const isSame = status === "unchanged" || holds(document, item.metadata, api.dialect.flavour.normalise);
	if (isSame) return { action: "none", documentId };
	refuseValues(service, item.metadata);
	const { metadata: present = new Map(), inexact } = document;
	return { action: "update", documentId, present, inexact, metadata: item.metadata };
}
