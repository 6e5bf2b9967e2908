import type { Reply } from "../answer.ts";
import type { Release } from "../flavours/release.ts";
import { Code, Failure } from "./failure.ts";
import { fileTypeOf } from "./names.ts";
import type { FileAnswer, Route } from "./request.ts";

/**
 * GET /datasets/<dataset_id>/documents/<document_id>: the bytes of a document, as they were uploaded (`download`).
 *
 * Up to v0.25 only the dataset's owner gets them. v0.26 looks up the document alone; v0.27 reports both as not found.
 */
export const downloadDocument: Route = async (call, { store }) => {
	const { datasetId, documentId, sentDatasetId, sentDocumentId, isOwner, release } = call;
	store.commits.flush();
	const hasDataset = store.datasets.find(datasetId) !== undefined;
	if (release.missingDownload === "names-dataset" && (!isOwner || !hasDataset))
		throw new Failure(Code.data, `You do not own the dataset ${sentDatasetId}.`);
	if (store.documents.datasetOf(documentId) !== datasetId) {
		if (release.missingDownload === "not-found") throw new Failure(Code.data, "document not found");
		throw new Failure(Code.data, `The dataset not own the document ${sentDocumentId}.`);
	}
	const bytes = store.documents.bytes(documentId);
	if (bytes.length === 0)
		throw new Failure(Code.data, release.reads === "as-go" ? "this document is empty" : "This file is empty.");
	return { bytes, name: store.documents.nameOf(documentId) ?? "" };
};

/** Types that a download has from v0.26 on, beside those that repeat the ending (`CONTENT_TYPE_MAP` in api/utils/web_utils.py). */
const TYPES: ReadonlyMap<string, string> = new Map([
	...["txt", "py", "js", "java", "c", "cpp", "h", "php", "go", "ts", "sh", "cs", "kt", "sql"].map(
		(ending): [string, string] => [ending, "text/plain"],
	),
	["md", "text/markdown"],
	["htm", "text/html"],
	["html", "text/html"],
	["csv", "text/csv"],
	["json", "application/json"],
	["jpg", "image/jpeg"],
	["doc", "application/msword"],
	["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
	["xls", "application/vnd.ms-excel"],
	["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
	["ppt", "application/vnd.ms-powerpoint"],
	["pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
]);

export function fileReply({ bytes, name }: FileAnswer, release: Release): Reply {
	const headers = { "content-disposition": `attachment; ${fileNameMember(name, release)}` };
	return { status: 200, headers, type: typeOf(name, release), body: bytes };
}

/** `_mimetype_for_document` in api/apps/restful_apis/document_api.py. A file of JSON then looks like an envelope. */
function typeOf(name: string, { downloadType }: Release): string {
	const ending = /\.([^.]+)$/.exec(name.toLowerCase())?.[1];
	if (downloadType === "octet-stream" || ending === undefined || !/^[\w+-]+$/.test(ending))
		return "application/octet-stream";
	return TYPES.get(ending) ?? `${fileTypeOf(name) === "visual" ? "image" : "application"}/${ending}`;
}

/** v1.0 writes a name as it is (`DownloadDocument` in internal/handler/document.go); Go sends control characters as blanks. */
function fileNameMember(name: string, { reads }: Release): string {
	if (reads === "as-go") {
		// Headers are bytes, which are the UTF-8 form of the name.
		const bytes = Buffer.from(name.replaceAll(/\p{Cc}/gu, " "));
		return `filename="${bytes.toString("latin1")}"`;
	}
	if (/^[\w!#$%&'*+.^`|~/-]+$/.test(name)) return `filename=${name}`;
	return `filename*=UTF-8''${encodeURIComponent(name)}`;
}
