import type { Metadata } from "../../json/values.ts";
import { METADATA_REFUSED, RestError } from "../../rest/errors.ts";
import { findDocument } from "../documents/find-document.ts";
import { readBack } from "../retry/retry.ts";
import { hasAlready } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import { type Write, writeMetadata } from "../service/write.ts";
import type { RowAttempt } from "./operation.ts";
import { beforeFirstAttempt } from "./prepare-update.ts";

/**
 * Writes metadata. If the service refuses it and has removed what the document had, that is written again.
 *
 * RAGFlow from v0.24 on has one type for each key. It answers a value of another type with code 102; by then v0.24.0 and
 * v0.25.3 to v0.27.0 have removed all metadata of the document.
 *
 * @param image what the document had; undefined where that is not known
 * @throws RestError
 */
export async function writeOrRestore(attempt: RowAttempt, write: Write, image: Metadata | undefined): Promise<void> {
	const { service, request, item, memory } = attempt;
	try {
		await writeMetadata(service, request, write, memory);
		// A later refusal is explained by the rows that gave keys their types.
		if (service.api.dialect.flavour.hasSearchEngine) service.typedKeys.addRow(write.metadata, item.line);
	} catch (error) {
		if (!(error instanceof RestError) || error.code !== METADATA_REFUSED) throw error;
		memory.maybeLost = true;
		const before = image === undefined || image.size === 0 ? beforeFirstAttempt(attempt) : image;
		const end = await restore(attempt, write, before ?? image);
		if (end === undefined) return;
		throw refusedRow(`${error.message}: ${clashText(service, write.metadata)}; ${end}`, error);
	}
}

/** Keys that the error of a row names. */
const SHOWN = 5;

/** The keys of metadata with their types, as far as the documents that were read explain a refusal. */
function clashText({ typedKeys }: Service, metadata: Metadata): string {
	const texts = typedKeys.reasons(metadata).map(({ text }) => text);
	const more = texts.length > SHOWN ? ` and ${texts.length - SHOWN} more keys` : "";
	if (texts.length > 0) return `${texts.slice(0, SHOWN).join(", ")}${more}`;
	return "a key has one type in all datasets of a user, and none of those read explains it";
}

/** @returns what has become of the document's metadata, as a clause; undefined if it has what was sent */
async function restore(
	{ service, request, item, log }: RowAttempt,
	{ datasetId, documentId, metadata }: Write,
	before: Metadata | undefined,
): Promise<string | undefined> {
	const { normalise } = service.api.dialect.flavour;
	const present = (await findDocument(service.api, request, datasetId, documentId))?.metadata;
	if (present !== undefined && hasAlready(present, metadata, normalise)) return undefined;
	if (present !== undefined && present.size > 0) return "the document keeps what it had";
	if (before === undefined) return "the document has no metadata now, and what it had is not known";
	if (before.size === 0) return "the document has no metadata, as before";
	await log.sending(item, { what: "update", documentId, metadata: before, before });
	try {
		await writeMetadata(service, request, { datasetId, documentId, metadata: before }, {});
	} catch (error) {
		// After any other failure the row is tried again as a whole.
		if (!(error instanceof RestError) || error.kind !== "rejected") throw error;
		return `the document has no metadata now, and what it had could not be written again (${error.message}); runs undo tries it once more`;
	}
	const isShown = async (): Promise<boolean> => {
		const document = await findDocument(service.api, request, datasetId, documentId);
		return document?.metadata !== undefined && hasAlready(document.metadata, before, normalise);
	};
	return (await readBack(isShown, service))
		? "the document had lost all metadata, and what it had was written again"
		: "what the document had was written again, and the list does not show it; runs undo tries it once more";
}

function refusedRow(text: string, cause: RestError): RestError {
	return new RestError(text, { kind: "rejected", code: METADATA_REFUSED, status: cause.status, cause });
}
