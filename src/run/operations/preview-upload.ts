import type { Metadata } from "../../json/values.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import type { RemoteDocument } from "../documents/stored-documents.ts";
import { holds, refuseValues } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import type { Request } from "../types.ts";
import { namesakesMeant, type OnExisting, settledByExisting } from "./namesakes.ts";
import { judgeNamesakes } from "./stale-document.ts";
import { sized, type UploadItem } from "./upload.ts";

type PreviewOptions = {
	readonly onExisting: OnExisting;
	readonly checksum?: boolean;
	readonly documents: Pick<DocumentSource, "byName">;
};

/** The effect of an upload. `present` is the metadata that it would replace. */
type UploadPreview =
	| { readonly action: "none"; readonly documentId: string }
	| { readonly action: "upload" }
	| {
			readonly action: "update";
			readonly documentId: string;
			readonly present: Metadata;
			readonly inexact: RemoteDocument["inexact"];
	  }
	| {
			readonly action: "update" | "replace";
			readonly documentId: string;
			readonly present: Metadata;
			/** where it is not that of the row alone */
			readonly metadata: Metadata;
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
	{ onExisting, checksum = false, documents }: PreviewOptions,
): Promise<UploadPreview> {
	const api = await service.known(request);
	const { name } = item.file;
	const found = namesakesMeant(await documents.byName(api, request, item.datasetId, name), name);
	const withSize = { ...item, file: await sized(item) };
	if (onExisting === "replace" && found.length > 0) {
		const judged = await judgeNamesakes({ service, api, request, item: withSize, checksum }, found);
		if (judged !== undefined) {
			const { what, document, metadata } = judged;
			if (what === "nothing") return { action: "none", documentId: document.id };
			refuseValues(service, metadata);
			return { action: what, documentId: document.id, present: document.metadata ?? new Map(), metadata };
		}
	}
	const settled = onExisting === "replace" ? undefined : settledByExisting(service, onExisting, found, withSize);
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
