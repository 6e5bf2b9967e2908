import type { Metadata } from "../../json/values.ts";
import { rejected } from "../../rest/errors.ts";
import { findDocument } from "../documents/find-document.ts";
import { isSameName } from "../documents/find-named.ts";
import { MARK } from "../documents/searches.ts";
import type { Named, RemoteDocument } from "../documents/stored-documents.ts";
import { holds } from "../service/arrival.ts";
import { existingAs, namesakesMeant, type OnExisting } from "./namesakes.ts";
import type { Replacing } from "./operation.ts";
import { notListed } from "./rename.ts";
import { beginReplacement, hasContentOf, readDocument, replacedMetadata } from "./replace.ts";
import { type KnownDataset, sized, type UploadAttempt, type UploadItem } from "./store-file.ts";
import type { RemovedKeys } from "./removed-keys.ts";
import { sendPrepared } from "./update.ts";

/** What `--on-existing` does with the document that has a file's name. */
type Judged = {
	readonly what: "replace" | "update" | "nothing";
	readonly document: Named;
	/** what it is to have, or the document that takes its place */
	readonly metadata: Metadata;
};

type Judging = KnownDataset & {
	readonly item: UploadItem;
	readonly onExisting: OnExisting;
	/** with `replace`: whether contents of equal size are compared, by a download */
	readonly checksum: boolean;
};

/**
 * Judges the document of a file's name. Sends nothing that writes.
 *
 * @param namesakes the documents that have the name by the service's comparison
 * @returns undefined where the file is to be stored
 * @throws RestError where the row fails for it
 */
export async function judgeExisting(judging: Judging, namesakes: readonly Named[]): Promise<Judged | undefined> {
	const { service, item, onExisting } = judging;
	const { metadata } = item;
	const found = namesakesMeant(namesakes, item.file.name);
	if (onExisting === "replace") return judgeReplaced(judging, found);
	const document = existingAs(service, onExisting, found, await sized(item));
	// A row without metadata must not clear that of a document.
	const what = onExisting === "skip" || metadata.size === 0 ? "nothing" : "update";
	return document && { what, document, metadata };
}

/**
 * Judges it by its size and, with `--checksum`, by its content.
 *
 * @param found the documents that the name means
 * @throws RestError where it is not certain which document is meant, or where its metadata can't be sent exactly
 */
async function judgeReplaced(judging: Judging, found: readonly Named[]): Promise<Judged | undefined> {
	const { service, item, checksum } = judging;
	const file = await sized(item);
	const [first, ...others] = found;
	if (first === undefined) return undefined;
	if (others.length > 0 || !isSameName(first.name, file.name)) {
		const ids = service.show(found.map(({ id }) => id).join(", "));
		const several = `the dataset has several documents called ${file.name}: ${ids}`;
		const alike = `the dataset has "${service.show(first.name)}", document ${ids}, which is the same name for this service as "${file.name}"`;
		const text = `${others.length > 0 ? several : alike}; none was replaced, and nothing of this row was sent`;
		throw rejected("EXISTS", text);
	}
	const isOtherSize = first.size !== undefined && first.size !== file.size;
	// A row without metadata asks nothing of a document that is as large as its file.
	if (!isOtherSize && !checksum && item.metadata.size === 0) {
		return { what: "nothing", document: first, metadata: new Map() };
	}
	const document = await readDocument(judging, first.id);
	if (document === undefined) throw notListed(judging, first.id);
	const metadata = replacedMetadata(service, item, document);
	const isStale = isOtherSize || (checksum && !(await hasContentOf(judging, document, file.path)));
	if (isStale) return { what: "replace", document, metadata };
	const isSame = holds(document, metadata, judging.api.dialect.flavour.normalise);
	return { what: isSame || item.metadata.size === 0 ? "nothing" : "update", document, metadata };
}

/** The beginning of a replacement of a document that is known by its id. Nothing of it was sent yet. */
export async function beginKnownReplacement(attempt: UploadAttempt, id: string): Promise<Replacing> {
	const { service, item } = attempt;
	const old = await readDocument(attempt, id);
	if (old === undefined) throw notListed(attempt, id);
	return beginReplacement(attempt, id, replacedMetadata(service, item, old));
}

/** An attempt of an upload whose file's name a document has. */
type ExistingUpload = UploadAttempt & { readonly removedKeys: RemovedKeys };

/** Writes the metadata of a document that was there before. */
export async function updateExisting(upload: ExistingUpload, found: Named, metadata: Metadata): Promise<void> {
	const item = { ...upload.item, documentId: found.id };
	const document = await sureOf(upload, found);
	const present = document.metadata ?? new Map();
	upload.memory.isLogged = true;
	await sendPrepared({ ...upload, item }, { document, present, metadata }, upload.removedKeys);
}

/** A document of a list of names, doubted where that does not show what it has. */
async function sureOf(upload: ExistingUpload, found: Named): Promise<RemoteDocument> {
	const { searches } = upload.service;
	const mayHide = found.metadata?.size === 0 && upload.api.dialect.flavour.hasSearchEngine;
	const sure = { ...upload, request: searches.believing(upload.request, MARK) };
	const document = mayHide ? await findDocument(sure, found.id) : found;
	return document?.metadata === undefined ? { ...found, isDoubted: true } : searches.marked(document);
}
