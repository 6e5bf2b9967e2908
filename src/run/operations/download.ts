import { rejected, RestError } from "../../rest/errors.ts";
import type { ByteSink } from "../../rest/types.ts";
import { errorForGivenFlavour } from "../service/detect-flavour.ts";
import type { Service } from "../service/service.ts";
import type { Work } from "../types.ts";
import type { DownloadFolder } from "./download-folder.ts";
import { notInDataset, type Operation } from "./operation.ts";

/** A document that the dataset lists: its bytes, where the list says them, and the path of its file below the folder. */
export type Wanted = { readonly size: number | undefined; readonly path: string };

type DownloadOptions<Item> = {
	readonly service: Service;
	readonly folder: Pick<DownloadFolder, "write" | "isKept" | "check">;
	/** undefined where the dataset does not list the document */
	readonly wanted: (item: Item) => Wanted | undefined;
	/** whether a file that is there may be written over */
	readonly overwrites: boolean;
	/** whether a file that is there as it was downloaded stays */
	readonly onlyChanged: boolean;
	/** whether this run goes on: it may have ended between a file and the record of its row */
	readonly isResumed: boolean;
};

/** Writes the bytes of a document into a file: the whole of them under its name, or nothing. */
export function downloadDocument<Item extends Work>({
	service,
	folder,
	wanted,
	overwrites,
	onlyChanged,
	isResumed,
}: DownloadOptions<Item>): Operation<Item> {
	return async (item, request, memory) => {
		const { api } = service;
		const { datasetId, documentId, name } = item;
		const document = wanted(item);
		if (document === undefined) throw notInDataset(service, item, "; nothing was written");
		memory.name ??= name;
		const { size, path } = document;
		const target = { id: documentId, path };
		if ((onlyChanged || isResumed) && (await folder.isKept(target, size)))
			return { status: onlyChanged ? "unchanged" : "downloaded", documentId };
		await folder.check(path, overwrites);
		const fill = async (sink: ByteSink): Promise<boolean> => {
			const bytes = await request(() => api.downloadDocument({ datasetId, id: documentId, size }, sink));
			if (size !== undefined && bytes !== size) throw otherSize(bytes, size);
			return true;
		};
		await folder.write(target, overwrites, fill).catch((error: unknown) => {
			throw errorForGivenFlavour(size === 0 ? error : lost(error), service, api);
		});
		return { status: "downloaded", documentId };
	};
}

function otherSize(bytes: number, size: number): RestError {
	const text = `the service gave ${bytes} bytes of the document, and lists ${size}; nothing was written`;
	return new RestError(text, { kind: "ambiguous", code: "SIZE_MISMATCH" });
}

/**
 * RAGFlow answers a read that fails as if the file were empty (RAGFlow v0.27.0 api/apps/restful_apis/document_api.py:
 * download; v1.0 internal/handler/document.go: DownloadDocument).
 */
function lost(error: unknown): unknown {
	if (!(error instanceof RestError) || error.kind !== "rejected") return error;
	if (!/\b(?:file|document) is empty\b|\bfailed to download document\b/i.test(error.message)) return error;
	const text = `the service has lost this file's content or can't read it (${error.message}); nothing was written`;
	return rejected("CONTENT_LOST", text, { status: error.status, cause: error });
}
