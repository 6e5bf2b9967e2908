import { stat } from "node:fs/promises";
import { reason } from "../../errors.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api, UploadFile } from "../../rest/types.ts";
import type { Operation } from "./operation.ts";
import type { UpdateItem } from "./update.ts";

export type UploadItem = UpdateItem & { readonly file: Omit<UploadFile, "size"> };

/** Uploads a row's file, then writes its metadata. A retry never stores the file a second time. */
export function uploadFile<Item extends UploadItem>(api: Api): Operation<Item> {
	return async ({ datasetId, file: { path, name: wanted }, metadata }, request, memory) => {
		// Once it is stored the file is no longer needed, and may be gone.
		if (memory.stored === undefined) {
			const file = { path, name: wanted, size: await sizeOf(path) };
			memory.stored = await request(() => api.uploadDocument(datasetId, file).catch(neverTwice));
		}
		const { id, name } = memory.stored;
		if (metadata.size > 0) await request(() => api.updateMetadata(datasetId, id, metadata));
		return { status: "uploaded", documentId: id, storedName: name };
	};
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

/** After a lost answer the file may be stored: sending it again could make a second document. */
function neverTwice(error: unknown): never {
	if (!(error instanceof RestError) || error.kind !== "ambiguous") throw error;
	const text = `${error.message}; the file may have been stored: look with docs list --name before uploading it again`;
	throw new RestError(text, { kind: "rejected", code: "UNKNOWN_OUTCOME", status: error.status, cause: error });
}
