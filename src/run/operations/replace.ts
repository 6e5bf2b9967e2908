import { createHash } from "node:crypto";
import { type Metadata } from "../../json/values.ts";
import { sha256Of } from "../../input-file.ts";
import { rejected, RestError } from "../../rest/errors.ts";
import type { Document } from "../../rest/types.ts";
import { refuseRounded } from "../documents/before-images.ts";
import { findDocument } from "../documents/find-document.ts";
import type { DatasetAccess } from "../documents/list.ts";
import { REFUSE } from "../documents/searches.ts";
import { readBack } from "../retry/retry.ts";
import { hasAlready, holds, sameMetadata } from "../service/arrival.ts";
import { type Operation, refuseNewer, type Replacing, type Settled, type Stored } from "./operation.ts";
import type { Parsing } from "./parsing.ts";
import { writeOrRestore } from "./update.ts";
import { copyParsing } from "./copied-parsing.ts";
import { rename } from "./rename.ts";
import { type KnownDataset, unreadable, type UploadAttempt, type UploadItem } from "./store-file.ts";

/** An attempt of a row that replaces a document. */
type Replacement = UploadAttempt & {
	readonly removeOld: Operation<UploadItem>;
	readonly parsing: Parsing | undefined;
};

/** The beginning of a replacement, of which nothing was sent yet. @param metadata what the new document is to have */
export function beginReplacement({ item, log }: UploadAttempt, old: string, metadata: Metadata): Replacing {
	refuseNewer(log, item, old);
	return { old, metadata, removal: { maybeRemoved: false } };
}

/** A replacement that an earlier execution had begun; undefined where it had not. */
export function earlierReplacement({ item, log }: UploadAttempt): Replacing | undefined {
	const { sent, stored } = log.earlier(item.index) ?? {};
	const { write, documentId: old = "", metadata = new Map() } = sent ?? {};
	// Its removal follows the record of the new document.
	const maybeRemoved = write === "remove" && stored !== undefined;
	return old !== "" && (maybeRemoved || write === "upload") ? { old, metadata, removal: { maybeRemoved } } : undefined;
}

/**
 * Gives a new document what the old one has, proves that its bytes are stored, removes the old one, and gives the new one its
 * name. Each step may have been made by an earlier attempt. The old document is removed last but one, so that there is always
 * one of them.
 */
export async function finishReplacement(
	replacement: Replacement,
	replacing: Replacing,
	stored: Stored,
): Promise<Settled> {
	const { request, item, log } = replacement;
	const { old, removal } = replacing;
	if (replacing.isRemoved !== true) {
		for (const id of [old, stored.id]) refuseNewer(log, item, id);
		if (removal.maybeRemoved !== true) {
			await proveBytes(replacement, replacing, stored.id);
			await parseFirst(replacement, replacing, stored.id);
		}
		const isThere = await copyMetadata(replacement, replacing, stored.id);
		if (isThere) await replacement.removeOld({ ...item, documentId: old }, request, removal);
		replacing.isRemoved = true;
	}
	await giveName(replacement, stored);
	return { status: "replaced", documentId: stored.id, storedName: item.file.name, replaces: old };
}

/** Where rows wait for parsing, questions find the old document until they find the new one. */
async function parseFirst(replacement: Replacement, replacing: Replacing, id: string): Promise<void> {
	const { service, api, request, item, memory, parsing } = replacement;
	if (parsing?.waits !== true || replacing.isParsed === true) return;
	// The method of parsing comes first. What another client writes meanwhile is copied after it.
	if (replacing.written === undefined) await copyMetadata(replacement, replacing, id);
	try {
		await parsing.document({ ...item, documentId: id }, request, memory);
	} catch (error) {
		if (!(error instanceof RestError) || error.kind !== "rejected") throw error;
		const [kept, made] = [service.show(replacing.old), service.show(id)];
		const text = `${error.message}; document ${kept} was left as it was. runs retry parses the new one again, and docs rm --id ${made} removes it`;
		throw rejected(error.code, text, { cause: error });
	}
	replacing.isParsed = true;
	// A rename leaves the chunks there as they are (RAGFlow v0.24.0 api/apps/sdk/doc.py: update_doc).
	if (api.dialect.flavour.update.verb !== "PUT") return;
	const text =
		"Chunks of replaced documents are cited as a(1).pdf where the file is a.pdf: this service names them when it parses, and the old document is removed after that.";
	service.noteOnce("CHUNKS_NAMED", text);
}

/** The document as it is now. Metadata that a failing search may hide is waited for. */
export function readDocument(dataset: KnownDataset, id: string): Promise<Document | undefined> {
	const request = dataset.service.searches.believing(dataset.request, REFUSE);
	return findDocument({ ...dataset, request }, id);
}

/**
 * The metadata of a document that takes the place of another: what that one has, with that of the row laid over it.
 *
 * @throws RestError where it can't be sent exactly
 */
export function replacedMetadata(
	service: UploadAttempt["service"],
	item: Pick<UploadItem, "metadata" | "isWhole">,
	old: Document,
): Metadata {
	if (item.isWhole === true) return item.metadata;
	refuseRounded(service, old.id, old, (key) => !item.metadata.has(key));
	return new Map([...(old.metadata ?? []), ...item.metadata]);
}

/**
 * Writes what the old document has now onto the new one, and reads it back.
 *
 * @returns false where the old one is not there, and this run has not removed it
 */
async function copyMetadata(replacement: Replacement, replacing: Replacing, id: string): Promise<boolean> {
	const { service, api, datasetId, item } = replacement;
	const { normalise } = api.dialect.flavour;
	const old = await readDocument(replacement, replacing.old);
	if (old !== undefined && replacing.isParsingCopied !== true) {
		await copyParsing(replacement, old, id);
		replacing.isParsingCopied = true;
	}
	// The removal was sent only after the new document had been read back.
	if (old === undefined && replacing.removal.maybeRemoved === true) return true;
	// Where another client has removed it, what it had was recorded.
	const metadata = old === undefined ? replacing.metadata : replacedMetadata(service, item, old);
	const isThere = old !== undefined;
	if (replacing.written !== undefined && sameMetadata(replacing.written, metadata)) return isThere;
	const present = await readDocument(replacement, id);
	if (present === undefined) throw lost(replacement, replacing, id, "the list does not show it");
	if (!holds(present, metadata, normalise)) {
		const before = present.metadata ?? new Map();
		// The record of the replacement covers it.
		replacement.memory.logged = metadata;
		await writeOrRestore(replacement, { datasetId, documentId: id, metadata }, before);
		const arrived = async (): Promise<boolean> =>
			hasAlready((await readDocument(replacement, id))?.metadata ?? new Map(), metadata, normalise);
		if (!(await readBack(arrived, service))) {
			throw lost(replacement, replacing, id, "the list does not show the metadata that was written onto it");
		}
	}
	replacing.written = metadata;
	return isThere;
}

/**
 * Downloads the new document, and compares it with the file: a service may answer success to an upload although its storage
 * failed (RAGFlow v0.18 to v0.27: `put` in rag/utils/minio_conn.py gives up after three tries, and raises nothing).
 */
async function proveBytes(replacement: Replacement, replacing: Replacing, id: string): Promise<void> {
	if (replacing.isProven === true) return;
	const { item } = replacement;
	const document = await readDocument(replacement, id);
	if (document === undefined) throw lost(replacement, replacing, id, "the list does not show it");
	if (!(await hasContentOf(replacement, document, item.file.path))) {
		throw lost(replacement, replacing, id, "it does not have the bytes of the file");
	}
	replacing.isProven = true;
}

/** Whether a stored document has the bytes of a file. @throws RestError where the file can't be read */
export async function hasContentOf(
	{ api, request }: DatasetAccess,
	document: Document,
	path: string,
): Promise<boolean> {
	const wanted = await sha256Of(path).catch((error: unknown) => {
		throw unreadable(error);
	});
	const found = await request(async () => {
		const hash = createHash("sha256");
		await api.downloadDocument(document, async (bytes) => void hash.update(bytes));
		return hash.digest("hex");
	}).catch((error: unknown) => {
		// "This file is empty." is a refusal, and is said of a file that is not stored.
		if (error instanceof RestError && error.kind === "rejected") return undefined;
		throw error;
	});
	return found === wanted;
}

/** Gives the new document the name of the old one, which is free now. */
async function giveName(replacement: Replacement, stored: Stored): Promise<void> {
	const { service, item } = replacement;
	const error = await rename(replacement, stored.id, item.file.name);
	if (error === undefined) return;
	const [name, id, why] = [service.show(stored.name), stored.id, error.message];
	const text = `the new document ${id} has taken the place of the old one, and is still called ${name}: ${why}; runs retry renames it`;
	throw rejected("RENAMED", text, { cause: error });
}

function lost({ service }: Replacement, { old }: Replacing, id: string, why: string): RestError {
	const [kept, made] = [service.show(old), service.show(id)];
	const text = `the file was stored as document ${made}, and ${why}; document ${kept} was left as it was. Remove the new one with docs rm --id ${made}`;
	return rejected("NOT_STORED", text);
}
