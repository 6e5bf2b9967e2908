import { stat } from "node:fs/promises";
import { reason } from "../../errors.ts";
import { RestError } from "../../rest/errors.ts";
import type { Api, StoredFile, UploadFile } from "../../rest/types.ts";
import { findNamesakes, type Request } from "../pages.ts";
import type { Memory } from "./operation.ts";

/**
 * Sends the file once. Where the answer leaves open whether it was stored, the list tells: what is there now and was not
 * before is it, and it is never sent again.
 */
export async function store(
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
		const found = await madeSince(api, request, { datasetId, file }, memory).catch(() => undefined);
		if (found !== undefined) return found;
		if (definite) throw error;
		const text = `${error.message}; the file may have been stored: look with docs list --name before uploading it again`;
		throw new RestError(text, { kind: "rejected", code: "UNKNOWN_OUTCOME", status: error.status, cause: error });
	}
}

/**
 * The document that an upload made although its answer says otherwise or was lost: new, of its name and of its size.
 * Asked for now: what was read before the upload can't show what it made.
 */
export async function madeSince(
	api: Api,
	request: Request,
	{ datasetId, file }: { datasetId: string; file: UploadFile },
	{ namesakes = [] }: Memory,
): Promise<StoredFile | undefined> {
	const known = new Set(namesakes);
	const now = await findNamesakes(api, request, datasetId, file.name);
	const made = now.filter(({ id, size }) => !known.has(id) && (size === undefined || size === file.size));
	const [only] = made;
	return made.length === 1 && only !== undefined ? { id: only.id, name: only.name, size: only.size } : undefined;
}

/** Bytes of a file, asked when its turn has come: a manifest may be long, and a file may change meanwhile. */
export async function sizeOf(path: string): Promise<number> {
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
