import { stat } from "node:fs/promises";
import { reason } from "../../errors.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api, Document, StoredFile, UploadFile } from "../../rest/types.ts";
import type { Request } from "../pages.ts";
import type { Service } from "../service/service.ts";
import { writeMetadata } from "../service/write.ts";
import type { Memory, Operation, Settled } from "./operation.ts";
import { type SentLog, unrecorded } from "./sent-log.ts";
import type { UpdateItem } from "./update.ts";

export type UploadItem = UpdateItem & { readonly file: Omit<UploadFile, "size"> };

/** What to do where the dataset has a document of the file's name already. */
export type OnExisting = "error" | "skip" | "update-metadata" | "upload-again";

/** Uploads a row's file, then writes its metadata. A retry never stores the file a second time. */
export function uploadFile<Item extends UploadItem>(
	service: Service,
	onExisting: OnExisting,
	log: SentLog = unrecorded,
): Operation<Item> {
	return async (item, request, memory) => {
		const { datasetId, file, metadata } = item;
		const api = await service.known(request);
		memory.stored ??= log.earlier(item.index)?.stored;
		if (memory.stored === undefined) {
			const settled = await beforeStoring(service, onExisting, request, item, memory, log);
			if (settled !== undefined) return settled;
			// Once it is stored the file is no longer needed, and may be gone.
			const sized = { ...file, size: await sizeOf(file.path) };
			if (memory.isLogged !== true) {
				const { namesakes = [] } = memory;
				await log.sending(item, { what: "upload", metadata, name: file.name, size: sized.size, namesakes });
			}
			memory.isLogged = true;
			memory.stored = await store(service, api, request, { datasetId, file: sized }, memory);
			await log.stored(item, memory.stored);
		}
		const { id, name } = memory.stored;
		if (name !== file.name && onExisting !== "upload-again") throw renamed(file.name, memory.stored);
		if (metadata.size > 0) await writeMetadata(service, request, { datasetId, documentId: id, metadata }, memory);
		return { status: "uploaded", documentId: id, storedName: name };
	};
}

/**
 * Looks for documents of the file's name. Resolves with the row's end where it needs no upload, and takes up what an
 * earlier sitting of the run stored and did not live to record.
 */
async function beforeStoring(
	service: Service,
	onExisting: OnExisting,
	request: Request,
	item: UploadItem,
	memory: Memory,
	log: SentLog,
): Promise<Settled | undefined> {
	const { datasetId, file, metadata } = item;
	const now = await service.lookup.byName(service.api, request, datasetId, file.name);
	const earlier = memory.isLogged === true ? undefined : log.earlier(item.index);
	if (earlier !== undefined) {
		memory.namesakes = earlier.namesakes;
		const sized = { ...file, size: await sizeOf(file.path) };
		const found = madeSince(now, memory, sized);
		if (found !== undefined) {
			memory.stored = found;
			await log.stored(item, found);
			if (metadata.size > 0)
				await writeMetadata(service, request, { datasetId, documentId: found.id, metadata }, memory);
			return { status: "uploaded", documentId: found.id, storedName: found.name };
		}
	}
	memory.namesakes ??= now.map(({ id }) => id);
	const known = new Set(memory.namesakes);
	const present = now.find(({ id }) => known.has(id));
	if (present === undefined || onExisting === "upload-again") return undefined;
	const settled = existing(onExisting, now, present, file.name);
	if (settled.status === "updated") {
		await log.sending(item, { what: "update", documentId: present.id, metadata });
		await writeMetadata(service, request, { datasetId, documentId: present.id, metadata }, memory);
	}
	return settled;
}

/** @throws RestError where the row can't be settled by what is there */
function existing(
	onExisting: Exclude<OnExisting, "upload-again">,
	namesakes: readonly Document[],
	present: Document,
	name: string,
): Settled {
	const ids = namesakes.map(({ id }) => id);
	if (onExisting === "error") {
		const text = `the dataset has ${name} already, as document ${ids.join(", ")}; it was not uploaded (--on-existing says what else to do)`;
		throw new RestError(text, { kind: "rejected", code: "EXISTS" });
	}
	if (onExisting === "skip") return { status: "unchanged", documentId: present.id, storedName: name };
	if (ids.length > 1) {
		const text = `the dataset has ${ids.length} documents named ${name}: ${ids.join(", ")}; nothing was written`;
		throw new RestError(text, { kind: "rejected", code: "AMBIGUOUS_NAME" });
	}
	return { status: "updated", documentId: present.id, storedName: name };
}

/**
 * Sends the file once. Where the answer leaves open whether it was stored, the list tells: what is there now and was not
 * before is it, and it is never sent again.
 */
async function store(
	service: Service,
	api: Api,
	request: Request,
	{ datasetId, file }: { datasetId: string; file: UploadFile },
	memory: Memory,
): Promise<StoredFile> {
	try {
		return await request(() => api.uploadDocument(datasetId, file));
	} catch (error) {
		const refused = error instanceof RestError && error.code === "CODE_500";
		const definite = refused && api.dialect.flavour.uploadCode500 === "definite";
		if (!(error instanceof RestError) || (error.kind !== "ambiguous" && !definite)) throw error;
		const found = await adoptable(service, api, request, { datasetId, file }, memory).catch(() => undefined);
		if (found !== undefined) return found;
		if (definite) throw error;
		const text = `${error.message}; the file may have been stored: look with docs list --name before uploading it again`;
		throw new RestError(text, { kind: "rejected", code: "UNKNOWN_OUTCOME", status: error.status, cause: error });
	}
}

/** The document that an upload made although its answer says otherwise or was lost: new, of its name and of its size. */
async function adoptable(
	service: Service,
	api: Api,
	request: Request,
	{ datasetId, file }: { datasetId: string; file: UploadFile },
	memory: Memory,
): Promise<StoredFile | undefined> {
	return madeSince(await service.lookup.byName(api, request, datasetId, file.name), memory, file);
}

function madeSince(now: readonly Document[], { namesakes = [] }: Memory, file: UploadFile): StoredFile | undefined {
	const known = new Set(namesakes);
	const made = now.filter(({ id, size }) => !known.has(id) && (size === undefined || size === file.size));
	const [only] = made;
	return made.length === 1 && only !== undefined ? { id: only.id, name: only.name, size: only.size } : undefined;
}

/** Bytes of a file, asked when its turn has come: a manifest may be long, and a file may change meanwhile. */
async function sizeOf(path: string): Promise<number> {
	try {
		return (await stat(path)).size;
	} catch (error) {
		throw new RestError(`the file can't be read: ${reason(error)}`, {
			kind: "rejected",
			code: "FILE_UNREADABLE",
			cause: error,
		});
	}
}

/** Somebody stored a file of that name between the look and the upload. */
function renamed(name: string, stored: { readonly id: string; readonly name: string }): RestError {
	const text = `the service stored ${name} as ${stored.name}, document ${stored.id}, because it has that name already; its metadata was not written. Remove it with docs rm --id ${stored.id}, or say --on-existing upload-again`;
	return new RestError(text, { kind: "rejected", code: "RENAMED" });
}
