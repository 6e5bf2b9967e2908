import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api, UploadFile } from "../../rest/types.ts";
import { isSameName } from "../documents/find-document.ts";
import type { Request } from "../types.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import { holds } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import { refuseValues } from "../service/values.ts";
import { type Write, writeMetadata } from "../service/write.ts";
import { restorable } from "../documents/before-images.ts";
import { numberedCopies, isNumbered, meant, type OnExisting, settledBy } from "./namesakes.ts";
import { anew, type Memory, type Operation, type Settled } from "./operation.ts";
import type { FindNames } from "../documents/document-source.ts";
import { RemovedKeys } from "./update.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";
import { Settling, checkStored, findUploadedSince, renamed, sizeOf, store } from "./store-file.ts";
import type { UpdateItem } from "./prepare-update.ts";

export type UploadItem = UpdateItem & { readonly file: Omit<UploadFile, "size"> };

export type UploadOptions = {
	readonly log: SentLog;
	/** how long an upload whose answer was lost is searched for */
	readonly settling: Settling;
	/** how the documents are found that have a file's name already; by default each name is asked for */
	readonly names: FindNames;
};

/**
 * Uploads a row's file, then writes its metadata. A retry never stores the file a second time. */
export function uploadFile<Item extends UploadItem>(
	service: Service,
	onExisting: OnExisting,
	options: Partial<UploadOptions> = {},
): Operation<Item> {
	const { log = unrecorded, settling = new Settling(service, 0), names = namesOf(service) } = options;
	const removedKeys = new RemovedKeys(service);
	return anew(service, async (item, request, memory) => {
		const { datasetId, file, metadata } = item;
		const api = await service.known(request);
		memory.stored ??=
			log.earlier(item.index)?.stored ?? (await recoverEarlierUpload(api, request, item, memory, log, settling));
		memory.stored ??= await storedBefore(api, request, item, memory, log);
		if (memory.stored === undefined) {
			// What was sent already is looked for, not sent again: who else has its name no longer matters.
			const isSent = memory.maybeStored !== undefined;
			const settled = isSent
				? undefined
				: await applyOnExisting(service, onExisting, request, item, memory, log, names, removedKeys);
			if (settled !== undefined) return settled;
			if (!isSent) refuseValues(service, metadata);
			// Once it is stored the file is no longer needed, and may be gone.
			const sized = { ...file, size: await sizeOf(file.path) };
			if (memory.isLogged !== true) {
				const { namesakes = [] } = memory;
				await log.sending(item, { what: "upload", metadata, name: file.name, size: sized.size, namesakes });
			}
			memory.isLogged = true;
			const stored = await store(api, request, { datasetId, file: sized }, memory, settling);
			// The look that follows may fail: the next try must look for it, not send it again.
			memory.isPutOff = true;
			await checkStored(service, api, request, item, stored, memory);
			memory.stored = stored;
			await log.stored(item, stored);
		}
		const { id, name } = memory.stored;
		if (!isSameName(name, file.name) && (onExisting !== "upload-again" || !isNumbered(file.name, name))) {
			throw renamed(service, file.name, memory.stored);
		}
		await tagUploaded(service, request, { datasetId, documentId: id, metadata }, memory);
		return { status: "uploaded", documentId: id, storedName: name };
	});
}

function namesOf({ lookup }: Service): FindNames {
	return (api, request, datasetId, name) => lookup.byName(api, request, datasetId, name);
}

/** What an upload would do. `present` is what the document has whose metadata would be replaced. */
export type UploadPreview =
	| { readonly action: "none"; readonly documentId: string }
	| { readonly action: "upload" }
	| {
			readonly action: "update";
			readonly documentId: string;
			readonly present: Metadata;
			readonly inexact: RemoteDocument["inexact"];
	  };

/**
 * Looks whether a document of the file's name is there, and at what `--on-existing` says of it. Sends nothing that writes.
 *
 * @throws RestError where the row would fail for it
 */
export async function previewUpload(
	service: Service,
	request: Request,
	item: UploadItem,
	{ onExisting, names = namesOf(service) }: { readonly onExisting: OnExisting; readonly names?: FindNames },
): Promise<UploadPreview> {
	const api = await service.known(request);
	const found = meant(await names(api, request, item.datasetId, item.file.name), item.file.name);
	const settled = settledBy(service, onExisting, found, item);
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

/** What a try stored that was not seen to be: a proxy may have passed it on, a look have failed. Looked at before it is sent again. */
async function storedBefore(
	api: Api,
	request: Request,
	item: UploadItem,
	memory: Memory,
	log: SentLog,
): Promise<Memory["stored"]> {
	if (memory.isPutOff !== true) return undefined;
	const file = { ...item.file, size: await sizeOf(item.file.path) };
	const found = await findUploadedSince(api, request, { datasetId: item.datasetId, file }, memory);
	if (found !== undefined) await log.stored(item, found);
	return found;
}

/**
 * What an earlier execution of the run sent, and did not live to see stored. It is looked for until the settle time is over:
 * that execution may have ended a moment ago.
 */
async function recoverEarlierUpload(
	api: Api,
	request: Request,
	item: UploadItem,
	memory: Memory,
	log: SentLog,
	settling: Settling,
): Promise<Memory["stored"]> {
	const earlier = log.earlier(item.index);
	// Where metadata alone was sent, what has the file's name was there before, and is not what this run stored.
	if (earlier?.namesakes === undefined || memory.isLogged === true) return undefined;
	memory.namesakes = earlier.namesakes;
	const file = { ...item.file, size: await sizeOf(item.file.path) };
	const found = await findUploadedSince(api, request, { datasetId: item.datasetId, file }, memory);
	if (found === undefined) settling.notFound(memory, earlier.age);
	else await log.stored(item, found);
	return found;
}

/** The row's end where a document of the file's name is there and the user said what to do then; else undefined. */
async function applyOnExisting(
	service: Service,
	onExisting: OnExisting,
	request: Request,
	item: UploadItem,
	memory: Memory,
	log: SentLog,
	names: FindNames,
	removedKeys: RemovedKeys,
): Promise<Settled | undefined> {
	const { datasetId, file, metadata } = item;
	const namesakes = await names(service.api, request, datasetId, file.name);
	if (memory.namesakes === undefined) {
		const ids = namesakes.map(({ id }) => id);
		// The file gets a number then: what bears one already is not what this run makes.
		const isCopy = onExisting === "upload-again" && ids.length > 0;
		const copies = isCopy ? await numberedCopies(service.api, request, datasetId, file.name) : [];
		memory.namesakes = [...ids, ...copies.map(({ id }) => id)];
	}
	const found = meant(namesakes, file.name);
	const settled = settledBy(service, onExisting, found, item);
	if (settled?.status !== "updated") return settled;
	const { documentId } = settled;
	if (memory.isLogged !== true) {
		const before = found[0] && restorable(service, documentId, found[0], found[0].metadata);
		await log.sending(item, { what: "update", documentId, metadata, before });
	}
	memory.isLogged = true;
	await writeMetadata(service, request, { datasetId, documentId, metadata }, memory);
	await removedKeys.check(request, { datasetId, documentId }, found[0]?.metadata, metadata);
	return settled;
}

/** Writes the metadata of a document that was just stored. A refusal names the document: its file must not be sent again. */
async function tagUploaded(service: Service, request: Request, write: Write, memory: Memory): Promise<void> {
	if (write.metadata.size === 0) return;
	try {
		await writeMetadata(service, request, write, memory);
	} catch (error) {
		if (!(error instanceof RestError) || (error.kind !== "rejected" && error.kind !== "contradiction")) throw error;
		const text = `${error.message}; the file is stored as document ${write.documentId}, without its metadata (--on-existing update-metadata writes it)`;
		throw new RestError(text, { kind: error.kind, code: error.code, status: error.status, cause: error });
	}
}
