import { RestError } from "../../rest/errors.ts";
import type { DocumentSource } from "../documents/document-source.ts";
import { findDocument, isSameName } from "../documents/find-document.ts";
import { readBack } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Work } from "../types.ts";
import { FOREIGN } from "./namesakes.ts";
import { refuseNewer, type RowAttempt, type Settled } from "./operation.ts";
import type { UploadAttempt } from "./store-file.ts";

/** Gives a document the name of its file. */
export async function renameDocument(
	{ service, request, item, log, memory }: RowAttempt,
	{ name }: { readonly name: string },
	documents: Pick<DocumentSource, "byName">,
): Promise<Settled> {
	const { api } = service;
	const { datasetId, documentId } = item;
	const document = await findDocument(api, request, datasetId, documentId);
	if (document === undefined) throw notListed(service, item, documentId);
	const isOurs = memory.isLogged === true || log.earlier(item.index) !== undefined;
	const settled = { documentId, storedName: name };
	if (isSameName(document.name, name)) return { ...settled, status: isOurs ? "renamed" : "unchanged" };
	refuseNewer(log, item, documentId);
	const [other] = (await documents.byName(api, request, datasetId, name)).filter(({ id }) => id !== documentId);
	if (other !== undefined) {
		const text = `the dataset has ${service.show(other.name)} already, as document ${service.show(other.id)}; document ${service.show(documentId)} was not renamed (docs rm --id ${service.show(documentId)} removes it, and --adopt then takes the other one over where it is equal)`;
		throw new RestError(text, { kind: "rejected", code: FOREIGN });
	}
	await log.sending(item, { what: "rename", documentId, names: { from: document.name, to: name } });
	memory.isLogged = true;
	const error = await rename({ service, api, request }, { datasetId, id: documentId, name });
	if (error !== undefined) throw error;
	return { ...settled, status: "renamed" };
}

/**
 * Gives a document a name, and reads it back.
 *
 * @returns why it does not have the name; undefined where it has
 * @throws RestError that is no refusal
 */
export async function rename(
	{ service, api, request }: Pick<UploadAttempt, "service" | "api" | "request">,
	{ datasetId, id, name }: { readonly datasetId: string; readonly id: string; readonly name: string },
): Promise<RestError | undefined> {
	const hasName = async (): Promise<boolean> => {
		const document = await findDocument(api, request, datasetId, id);
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
	return new RestError("the list does not show its new name", { kind: "rejected", code: "RENAMED" });
}

/** The error of a row whose document is gone. */
export function notListed(
	service: Pick<Service, "show">,
	{ datasetId }: Pick<Work, "datasetId">,
	id: string,
): RestError {
	const text = `document ${service.show(id)} is no longer in dataset ${service.show(datasetId)}`;
	return new RestError(text, { kind: "ambiguous", code: "NOT_LISTED" });
}
