import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { StoredFile, UploadFile } from "../../rest/types.ts";
import { restorable } from "../documents/before-images.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument, isSameName } from "../documents/find-document.ts";
import { MARK } from "../documents/searches.ts";
import type { Named, RemoteDocument } from "../documents/stored-documents.ts";
import { holds, missingKeys, refuseValues } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request } from "../types.ts";
import { isNumbered, namesakesMeant, numberedCopies, type OnExisting, settledByExisting } from "./namesakes.ts";
import { type Memory, type Operation, refuseNewer, type SentLog, type Settled, unrecorded } from "./operation.ts";
import { FolderNames } from "./folder-names.ts";
import type { UpdateItem } from "./prepare-update.ts";
import { writeOrRestore } from "./refused-metadata.ts";
import {
	checkUploadAnswer,
	findUploadedSince,
	renamed,
	Settling,
	sizeOf,
	storeFile,
	type UploadAttempt,
} from "./store-file.ts";
import { RemovedKeys } from "./update.ts";

export type UploadItem = UpdateItem & { readonly file: Omit<UploadFile, "size"> };

type UploadOptions = {
	readonly log: SentLog;
	/** how long an upload whose answer was lost is searched for */
	readonly settling: Settling;
	readonly folders: FolderNames;
};

/** An attempt of a row of `docs upload`. */
type Upload = UploadAttempt & {
	readonly item: UploadItem;
	readonly onExisting: OnExisting;
	readonly removedKeys: RemovedKeys;
	readonly folders: FolderNames;
};

/** Uploads a row's file, then writes its metadata. A retry never stores the file a second time. */
export function uploadFile<Item extends UploadItem>(
	service: Service,
	onExisting: OnExisting,
	documents: UploadAttempt["documents"],
	{
		log = unrecorded,
		settling = new Settling(service, 0),
		folders = new FolderNames(service),
	}: Partial<UploadOptions> = {},
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	const shared = { service, log, settling, onExisting, documents, removedKeys, folders };
	return (item, request, memory) =>
		service.inDialect(request, async (api) => {
			const upload: Upload = { ...shared, api, request, item, memory };
			memory.stored ??= log.earlier(item.index)?.stored ?? (await recoverEarlierUpload(upload));
			memory.stored ??= await recoverAttempt(upload);
			// A file that was sent is searched for, and not sent again. Documents of its name no longer matter.
			const isNew = memory.stored === undefined && memory.maybeStored === undefined;
			const settled = isNew ? await applyOnExisting(upload) : undefined;
			if (settled !== undefined) return settled;
			const store = (): Promise<StoredFile> => storeRecorded(upload);
			// A file that was sent is searched for, whatever became known of the service since.
			const stored =
				memory.stored ?? (await (memory.isLogged === true ? store() : folders.store(item.file.name, store)));
			const { id, name } = stored;
			const { file } = item;
			if (!isSameName(name, file.name) && (onExisting !== "upload-again" || !isNumbered(file.name, name))) {
				throw renamed(service, file.name, stored);
			}
			await tagUploaded(upload, id);
			return { status: "uploaded", documentId: id, storedName: name };
		});
}

/** The effect of an upload. `present` is the metadata that it would replace. */
type UploadPreview =
	| { readonly action: "none"; readonly documentId: string }
	| { readonly action: "upload" }
	| {
			readonly action: "update";
			readonly documentId: string;
			readonly present: Metadata;
			readonly inexact: RemoteDocument["inexact"];
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
	{ onExisting, documents }: { readonly onExisting: OnExisting; readonly documents: Pick<DocumentSource, "byName"> },
): Promise<UploadPreview> {
	const api = await service.known(request);
	const { name } = item.file;
	const found = namesakesMeant(await documents.byName(api, request, item.datasetId, name), name);
	const settled = settledByExisting(service, onExisting, found, { ...item, file: await sized(item) });
	if (settled === undefined) {
		refuseValues(service, item.metadata);
		return { action: "upload" };
	}
	const { documentId, status } = settled;
	const document: RemoteDocument = found[0] ?? { metadata: undefined };
	const isSame = status === "unchanged" || holds(document, item.metadata, api.dialect.flavour.normalise);
	if (isSame) return { action: "none", documentId };
	refuseValues(service, item.metadata);
	const { metadata: present = new Map(), inexact } = document;
	return { action: "update", documentId, present, inexact };
}

/** Records an upload and stores its file. */
async function storeRecorded(upload: Upload): Promise<StoredFile> {
	const { service, item, memory, log } = upload;
	const { metadata } = item;
	if (memory.maybeStored === undefined) refuseValues(service, metadata);
	const file = await sized(item);
	if (memory.isLogged !== true) {
		const { namesakes = [] } = memory;
		await log.sending(item, { what: "upload", metadata, name: file.name, size: file.size, namesakes });
	}
	memory.isLogged = true;
	const stored = await storeFile(upload, file);
	// The check that follows may fail: the next attempt must search for the file, and not send it again.
	memory.isSearchDue = true;
	await checkUploadAnswer(upload, stored);
	memory.stored = stored;
	await log.stored(item, stored);
	return stored;
}

/** A file that an attempt of this execution may have stored. It is searched for before it is sent again. */
async function recoverAttempt(upload: Upload): Promise<Memory["stored"]> {
	const { item, memory, log } = upload;
	if (memory.isSearchDue !== true) return undefined;
	const found = await findUploadedSince(upload, await sized(item));
	if (found !== undefined) await log.stored(item, found);
	return found;
}

/**
 * A file that an earlier execution of the run sent, and that no list had shown when it ended. It is searched for until the
 * settle time is over: that execution may have ended a moment ago.
 */
async function recoverEarlierUpload(upload: Upload): Promise<Memory["stored"]> {
	const { item, memory, log, settling } = upload;
	const earlier = log.earlier(item.index);
	// Where only metadata was sent, a document of the file's name was there before, and this run did not store it.
	if (earlier?.namesakes === undefined || memory.isLogged === true) return undefined;
	memory.namesakes = earlier.namesakes;
	const found = await findUploadedSince(upload, await sized(item));
	if (found === undefined) settling.notFound(memory, earlier.age);
	else await log.stored(item, found);
	return found;
}

/** The file with its size. It must be there until it is stored, and no longer. */
async function sized({ file }: UploadItem): Promise<UploadFile> {
	return { ...file, size: await sizeOf(file.path) };
}

/** The row's end where a document of the file's name is there and `--on-existing` says what to do then; else undefined. */
async function applyOnExisting(upload: Upload): Promise<Settled | undefined> {
	const { service, request, item, memory, log, onExisting, documents, removedKeys } = upload;
	const { datasetId, file, metadata } = item;
	const namesakes = await documents.byName(service.api, request, datasetId, file.name);
	if (memory.namesakes === undefined) {
		const ids = namesakes.map(({ id }) => id);
		// The file gets a number then. A document that has a number already is not what this run makes.
		const isCopy = onExisting === "upload-again" && ids.length > 0;
		const copies = isCopy ? await numberedCopies(service.api, request, datasetId, file.name) : [];
		memory.namesakes = [...ids, ...copies.map(({ id }) => id)];
	}
	const found = namesakesMeant(namesakes, file.name);
	const settled = settledByExisting(service, onExisting, found, { ...item, file: await sized(item) });
	if (settled !== undefined) refuseNewer(log, item, settled.documentId);
	if (settled?.status !== "updated") return settled;
	const { documentId } = settled;
	const before = await beforeImage(upload, found[0]);
	if (memory.isLogged !== true) {
		await log.sending(item, { what: "update", documentId, metadata, before });
	}
	memory.isLogged = true;
	await writeOrRestore(upload, { datasetId, documentId, metadata }, before);
	await removedKeys.check(request, { datasetId, documentId }, missingKeys(found[0]?.metadata, metadata));
	return settled;
}

/** What an existing document has before it is written; undefined where that is not known, or can't be sent back. */
async function beforeImage(
	{ service, request, item: { datasetId } }: Upload,
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

/** Writes the metadata of a document that was just stored. A refusal names the document: its file must not be sent again. */
async function tagUploaded(upload: Upload, documentId: string): Promise<void> {
	const { datasetId, metadata } = upload.item;
	if (metadata.size === 0) return;
	try {
		await writeOrRestore(upload, { datasetId, documentId, metadata }, new Map());
	} catch (error) {
		if (!(error instanceof RestError) || (error.kind !== "rejected" && error.kind !== "contradiction")) throw error;
		const text = `${error.message}; the file is stored as document ${documentId}, without its metadata (--on-existing update-metadata writes it)`;
		const { kind, code, status, unrouted } = error;
		throw new RestError(text, { kind, code, status, unrouted, cause: error });
	}
}
