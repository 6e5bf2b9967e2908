import { rejected, RestError } from "../../rest/errors.ts";
import type { StoredFile, UploadFile } from "../../rest/types.ts";
import { isSameName } from "../documents/find-named.ts";
import { refuseValues } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import { isAnother, possibleCopies, type OnExisting } from "./namesakes.ts";
import { type Memory, type Operation, refuseNewer, type SentLog, type Settled } from "./operation.ts";
import { FolderNames, restoreFolders } from "./rename.ts";
import { beginReplacement, earlierReplacement, finishReplacement } from "./replace.ts";
import type { Parsing } from "./parsing.ts";
import { removeDocuments } from "./remove.ts";
import { beginKnownReplacement, judgeExisting, updateExisting } from "./existing-documents.ts";
import {
	checkUploadAnswer,
	findUploadedSince,
	renamed,
	Settling,
	sized,
	storeFile,
	type UploadAttempt,
	type UploadItem,
} from "./store-file.ts";
import { RemovedKeys } from "./removed-keys.ts";
import { writeOrRestore } from "./update.ts";

type UploadOptions = {
	readonly log: SentLog;
	/** of one request, in milliseconds: for as long an upload whose answer was lost is searched for */
	readonly timeout: number;
	/** with `replace`: contents of equal size are compared, by a download */
	readonly checksum?: boolean;
	/** parses a new document before it takes the place of another; undefined where nothing is parsed */
	readonly parsing: Parsing | undefined;
};

/** An attempt of a row of `docs upload`. */
type Upload = UploadAttempt & {
	readonly onExisting: OnExisting;
	readonly checksum: boolean;
	readonly removedKeys: RemovedKeys;
	readonly folders: FolderNames;
};

/** Uploads a row's file, then writes its metadata. A retry never stores the file a second time. */
export function uploadFile<Item extends UploadItem>(
	service: Service,
	onExisting: OnExisting,
	documents: UploadAttempt["documents"],
	{ log, timeout, checksum = false, parsing }: UploadOptions,
): Operation<Item> {
	const removedKeys = new RemovedKeys(service);
	const settling = new Settling(service, timeout);
	const folders = new FolderNames(service);
	const shared = { service, log, settling, onExisting, checksum, documents, removedKeys, folders };
	const removeOld = removeDocuments<UploadItem>(service, { log });
	return async (item, request, memory) => {
		const { api } = service;
		const upload: Upload = { ...shared, api, request, datasetId: item.datasetId, item, memory };
		memory.replacing ??= earlierReplacement(upload);
		memory.stored ??= await recoverUpload(upload);
		// A file that was sent is searched for, and not sent again. Documents of its name no longer matter.
		const isNew = memory.stored === undefined && memory.maybeStored === undefined;
		const settled = isNew ? await applyOnExisting(upload) : undefined;
		if (settled !== undefined) return settled;
		const { replacing } = memory;
		const store = (): Promise<StoredFile> => storeRecorded(upload);
		// That a second file of a name is stored without its folders says nothing of the first.
		const sent = memory.stored ?? (await (replacing === undefined ? folders.store(upload, store) : store()));
		if (replacing !== undefined) return finishReplacement({ ...upload, removeOld, parsing }, replacing, sent);
		// With `upload-again`, a name that was taken is not the document's.
		const isAgain = onExisting === "upload-again" && (memory.namesakes ?? []).length > 0;
		const stored = isAgain ? sent : await restoreFolders(upload, sent);
		const { id, name } = stored;
		const { file } = item;
		if (!isSameName(name, file.name) && (onExisting !== "upload-again" || !isAnother(file.name, name))) {
			throw renamed(service, file.name, stored, onExisting === "foreign");
		}
		await tagUploaded(upload, id);
		return { status: "uploaded", documentId: id, storedName: name };
	};
}

/** Records an upload and stores its file. */
async function storeRecorded(upload: Upload): Promise<StoredFile> {
	const { service, item, memory, log } = upload;
	const { namesakes = [], replacing, sentSize } = memory;
	const { metadata } = replacing ?? item;
	if (memory.maybeStored === undefined) {
		refuseValues(service, metadata);
		memory.sentSize = undefined;
	}
	const file = await asSent(upload);
	memory.sentSize = file.size;
	if (memory.isLogged !== true || file.size !== sentSize) {
		const { name: fileName, size } = file;
		const documentId = replacing?.old ?? "";
		await log.sending(item, { write: "upload", documentId, metadata, fileName, size, namesakes });
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

/**
 * A file that an attempt of this execution may have stored: it is searched for before it is sent again. One that an earlier
 * execution sent, and that no list had shown when it ended, is searched for until the settle time is over: that execution may
 * have ended a moment ago.
 */
async function recoverUpload(upload: Upload): Promise<Memory["stored"]> {
	const { item, memory, log, settling } = upload;
	const earlier = log.earlier(item.index);
	if (earlier?.stored !== undefined) return { id: earlier.stored.documentId, name: earlier.stored.storedName };
	if (memory.replacing?.removal.maybeRemoved === true) {
		const text = "a repair has lost which document took the place of the old one; nothing more was sent";
		throw rejected("UNKNOWN_OUTCOME", text);
	}
	// Where only metadata was sent, a document of the file's name was there before, and this run did not store it.
	const isEarlier = earlier !== undefined && earlier.sent?.write !== "update" && memory.isLogged !== true;
	if (isEarlier) {
		const { namesakes = [], fileName, size } = earlier.sent ?? {};
		memory.namesakes = namesakes;
		memory.sentName = fileName;
		memory.sentSize = size;
	} else if (memory.isSearchDue !== true) return undefined;
	const found = await findUploadedSince(upload, await asSent(upload));
	if (found !== undefined) await log.stored(item, found);
	else if (isEarlier) settling.notFound(memory, earlier.age);
	return found;
}

/** The file with the name and the size that it was sent with, or is to be sent with. */
async function asSent({ item, memory }: Upload): Promise<UploadFile> {
	const { sentName: name = item.file.name, sentSize: size } = memory;
	return { ...(size === undefined ? await sized(item) : { ...item.file, size }), name };
}

/** The row's end where a document of the file's name is there and `--on-existing` says what to do then; else undefined. */
async function applyOnExisting(upload: Upload): Promise<Settled | undefined> {
	const { service, request, datasetId, item, memory, log, onExisting, documents } = upload;
	const { file } = item;
	const namesakes = await documents.byName(service.api, request, datasetId, file.name);
	if (memory.namesakes === undefined) {
		const ids = namesakes.map(({ id }) => id);
		// The file gets a number then. A document that has a number already is not what this run makes.
		const mayNumber = onExisting === "upload-again" || onExisting === "replace" || item.replaces !== undefined;
		const isCopy = mayNumber && ids.length > 0;
		const copies = isCopy ? await possibleCopies(upload, file.name) : [];
		memory.namesakes = [...ids, ...copies.map(({ id }) => id)];
	}
	if (item.replaces !== undefined) {
		memory.replacing = await beginKnownReplacement(upload, item.replaces);
		return undefined;
	}
	const judged = await judgeExisting(upload, namesakes);
	if (judged === undefined) return undefined;
	const { what, document, metadata } = judged;
	if (what === "replace") {
		memory.replacing = beginReplacement(upload, document.id, metadata);
		return undefined;
	}
	refuseNewer(log, item, document.id);
	if (what === "update") await updateExisting(upload, document, metadata);
	// With `replace`, an earlier attempt may have written it.
	const isOurs = onExisting === "replace" && (memory.isLogged === true || log.earlier(item.index) !== undefined);
	const status = what === "update" || isOurs ? "updated" : "unchanged";
	return { status, documentId: document.id, storedName: document.name };
}

/** Writes the metadata of a document that was just stored. A refusal names the document: its file must not be sent again. */
async function tagUploaded(upload: Upload, documentId: string): Promise<void> {
	const { datasetId, item, memory } = upload;
	const { metadata } = item;
	if (metadata.size === 0) return;
	// The record of the upload has it.
	memory.logged = metadata;
	try {
		await writeOrRestore(upload, { datasetId, documentId, metadata }, new Map());
	} catch (error) {
		if (!(error instanceof RestError) || !error.isRefusal) throw error;
		const text = `${error.message}; the file is stored as document ${documentId}, without its metadata (--on-existing update-metadata writes it)`;
		const { kind, code, status, unrouted } = error;
		throw new RestError(text, { kind, code, status, unrouted, cause: error });
	}
}
