import type { Metadata } from "../../json/values.ts";
import { restorable } from "../documents/before-images.ts";
import { findDocument } from "../documents/find-document.ts";
import { MARK } from "../documents/searches.ts";
import type { Named } from "../documents/stored-documents.ts";
import { missingKeys } from "../service/arrival.ts";
import type { Settled } from "./operation.ts";
import { writeOrRestore } from "./refused-metadata.ts";
import type { UploadAttempt } from "./store-file.ts";
import type { RemovedKeys } from "./update.ts";
import type { UploadItem } from "./upload.ts";

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
		await log.sending(item, { what: "update", documentId, metadata, before });
	}
	memory.isLogged = true;
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
