import pLimit from "p-limit";
import { rejected, RestError } from "../../rest/errors.ts";
import type { StoredFile } from "../../rest/types.ts";
import { flatName } from "../../text/names.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument } from "../documents/find-document.ts";
import { isSameName } from "../documents/find-named.ts";
import { readBack } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import { FOREIGN } from "./namesakes.ts";
import { refuseNewer, type RowAttempt, type Settled, type Stored } from "./operation.ts";
import { type KnownDataset, renamed, type UploadAttempt } from "./store-file.ts";

/** Gives a document the name of its file. */
export async function renameDocument(
	{ service, request, item, log, memory }: RowAttempt,
	{ name }: { readonly name: string },
	documents: Pick<DocumentSource, "byName">,
): Promise<Settled> {
	const { api } = service;
	const { datasetId, documentId } = item;
	const dataset = { service, api, request, datasetId };
	const document = await findDocument(dataset, documentId);
	if (document === undefined) throw notListed(dataset, documentId);
	const isOurs = memory.isLogged === true || log.earlier(item.index) !== undefined;
	const settled = { documentId, storedName: name };
	if (isSameName(document.name, name)) return { ...settled, status: isOurs ? "renamed" : "unchanged" };
	refuseNewer(log, item, documentId);
	const [other] = (await documents.byName(api, request, datasetId, name)).filter(({ id }) => id !== documentId);
	if (other !== undefined) {
		const text = `the dataset has ${service.show(other.name)} already, as document ${service.show(other.id)}; document ${service.show(documentId)} was not renamed (docs rm --id ${service.show(documentId)} removes it, and --adopt then takes the other one over where it is equal)`;
		throw rejected(FOREIGN, text);
	}
	await log.sending(item, { write: "rename", documentId, fileName: name, oldName: document.name });
	memory.isLogged = true;
	const error = await rename(dataset, documentId, name);
	if (error !== undefined) throw error;
	return { ...settled, status: "renamed" };
}

/**
 * Gives a document a name, and reads it back.
 *
 * @returns why it does not have the name; undefined where it has
 * @throws RestError that is no refusal
 */
export async function rename(dataset: KnownDataset, id: string, name: string): Promise<RestError | undefined> {
	const { service, api, request, datasetId } = dataset;
	const hasName = async (): Promise<boolean> => {
		const document = await findDocument(dataset, id);
		return document !== undefined && isSameName(document.name, name);
	};
	try {
		await request(() => api.renameDocument(datasetId, id, name));
	} catch (error) {
		if (!(error instanceof RestError) || error.kind !== "rejected") throw error;
		// An earlier attempt may have renamed it.
		return (await hasName()) ? undefined : error;
	}
	if (await readBack(hasName, service)) return undefined;
	return rejected("RENAMED", "the list does not show its new name");
}

/** The error of a row whose document is gone. */
export function notListed({ service, datasetId }: Pick<KnownDataset, "service" | "datasetId">, id: string): RestError {
	const text = `document ${service.show(id)} is no longer in dataset ${service.show(datasetId)}`;
	return new RestError(text, { kind: "ambiguous", code: "NOT_LISTED" });
}

/**
 * Whether the service keeps the folders of a name, as `hr/` of `hr/a.pdf`. RAGFlow in Python keeps them; v1.0 drops them, as
 * Go's `mime/multipart` does (`Part.FileName` is `filepath.Base`). Of other services it is not known. So the first such
 * file of a run goes alone, and the name in its answer shows it.
 *
 * Where they are dropped and the service renames documents, a file is sent under its flat name, and its document then gets
 * the name with folders. RAGFlow v1.0 internal/service/document/document_dataset_update.go: UpdateDatasetDocument takes it.
 */
export class FolderNames {
	readonly #service: Service;
	readonly #queue = pLimit(1);
	#isKept: boolean | undefined;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Stores a file. One that was sent is searched for, whatever became known of the service since.
	 *
	 * @throws RestError before anything is sent, where the service would drop folders of the name for good
	 */
	async store(attempt: UploadAttempt, send: () => Promise<StoredFile>): Promise<StoredFile> {
		const { api, request, datasetId, item, memory, documents } = attempt;
		const { name } = item.file;
		if (!name.includes("/") || memory.isLogged === true) return send();
		// An upload whose answer is lost is searched for under the name that it was sent with.
		if (api.dialect.flavour.dropsFolders === true) this.#isKept = false;
		const first = await this.#queue(async () => {
			if (this.#isKept !== undefined) return undefined;
			const stored = await send();
			this.#isKept = stored.name.includes("/");
			return stored;
		});
		if (first !== undefined) return first;
		if (this.#isKept === true) return send();
		if (!renames(attempt)) {
			const [sent, base] = [name, name.slice(name.lastIndexOf("/") + 1)].map((each) => this.#service.show(each));
			const text = `the service would store ${sent} as ${base}; nothing of this row was sent (--names flat stores it under a name with its folders)`;
			throw rejected("NO_FOLDERS", text);
		}
		memory.sentName = flatName(name);
		// A document that has the flat name already must not be taken for the file, if its answer is lost.
		const found = await documents.byName(api, request, datasetId, memory.sentName);
		memory.namesakes = [...(memory.namesakes ?? []), ...found.map(({ id }) => id)];
		return send();
	}
}

function renames({ api }: Pick<UploadAttempt, "api">): boolean {
	return api.dialect.flavour.calls.includes("rename");
}

/**
 * Gives a document the name of its file, where the service dropped the folders of that.
 *
 * @returns the document with the name that it has then
 * @throws RestError `RENAMED` where the service refuses the name, or does not list it
 */
export async function restoreFolders(attempt: UploadAttempt, stored: Stored): Promise<Stored> {
	const { name } = attempt.item.file;
	if (!name.includes("/") || stored.name.includes("/") || !renames(attempt)) return stored;
	const error = await rename(attempt, stored.id, name);
	if (error !== undefined) throw renamed(attempt.service, name, stored);
	return { ...stored, name };
}
