import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../errors.ts";
import type { Metadata } from "../../json/values.ts";
import type { PlannedFailure, PlannedFile } from "../../plan/plan-file/lines.ts";
import { rejected, type RestError } from "../../rest/errors.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import type { Service } from "../service/service.ts";
import { isAbsent } from "../storage/quick-files.ts";
import type { Request, Work } from "../types.ts";
import { existingAs, namesakesMeant } from "./namesakes.ts";
import type { Operation, SentLog } from "./operation.ts";
import type { Parsing } from "./parsing.ts";
import { notListed, renameDocument } from "./rename.ts";
import { readDocument, replacedMetadata } from "./replace.ts";
import type { UploadItem } from "./store-file.ts";
import { uploadFile } from "./upload.ts";

/** A row of a sync that is about a file. `file` has the absolute path of its bytes. */
export type FileItem = Work & {
	readonly planned: PlannedFile;
	readonly file: { readonly path: string; readonly name: string };
	readonly metadata: Metadata;
};

type Documents = Pick<DocumentSource, "byName" | "now" | "wasListed">;

type FileOptions = {
	readonly log: SentLog;
	/** of one request, in milliseconds */
	readonly timeout: number;
	readonly parsing: Parsing | undefined;
};

/** Uploads, replaces or renames what a sync has planned, where the file is still as it was then. */
export function applyFile(service: Service, documents: Documents, options: FileOptions): Operation<FileItem> {
	const { log } = options;
	const upload = uploadFile<UploadItem>(service, "foreign", documents, options);
	return async (item, request, memory) => {
		const { planned, documentId } = item;
		switch (planned.action) {
			case "keep":
				return { status: "unchanged", documentId };
			case "rename":
				return renameDocument({ service, request, item, memory, log }, planned, documents);
			case "upload":
			case "replace": {
				const isSent = memory.isLogged === true || log.earlier(item.index) !== undefined;
				if (!isSent) await refuseChangedFile(item);
				if (planned.action === "upload") return upload({ ...item, documentId: "" }, request, memory);
				const isWhole = planned.was !== undefined;
				return upload({ ...item, documentId: "", replaces: documentId, isWhole }, request, memory);
			}
		}
	};
}

/** What a sync would do to the document of a file. It writes nothing. @throws RestError where the row would fail for it */
export async function previewFile(
	service: Service,
	request: Request,
	item: FileItem,
	documents: Pick<DocumentSource, "byName">,
): Promise<{ readonly present: Metadata; readonly metadata: Metadata }> {
	const { planned, datasetId, file, documentId } = item;
	const api = await service.known(request);
	if (planned.action === "upload") {
		const found = namesakesMeant(await documents.byName(api, request, datasetId, file.name), file.name);
		existingAs(service, "foreign", found, { name: file.name, size: planned.file.size });
		return { present: new Map(), metadata: item.metadata };
	}
	if (planned.action !== "replace") return { present: new Map(), metadata: new Map() };
	const dataset = { service, api, request, datasetId };
	const old = await readDocument(dataset, documentId);
	if (old === undefined) throw notListed(dataset, documentId);
	return { present: old.metadata ?? new Map(), metadata: replacedMetadata(service, item, old) };
}

/** Fails a row whose file is not the one that was planned. @throws RestError */
async function refuseChangedFile({ planned, file }: FileItem): Promise<void> {
	const { size, mtime, at } = planned.file;
	let why = "is not there any more";
	try {
		const found = await stat(file.path);
		if (found.size === size && (at !== undefined || found.mtimeMs === mtime)) return;
		why = "was changed";
	} catch (error) {
		if (errorCode(error) !== "ENOENT") why = "can't be read";
	}
	throw changedSince(`the file ${why} after the plan was made; nothing of it was sent`);
}

/** Fails the removal of a document whose file is back. @param path of the file from the root of the sync */
export async function refuseReturned(root: string, path: string): Promise<void> {
	try {
		if ((await lstat(join(root, path))).isDirectory()) return;
	} catch (error) {
		if (isAbsent(error)) return;
		throw changedSince("it is not certain that its file is gone; the document was not removed");
	}
	throw changedSince("its file is there again; the document was not removed");
}

/** The error of a row of which nothing can be sent. */
export function plannedFailure({ code, text }: PlannedFailure): RestError {
	return rejected(code, text);
}

function changedSince(text: string): RestError {
	return rejected("CHANGED_MEANWHILE", text);
}
