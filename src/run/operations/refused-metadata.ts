import type { Metadata } from "../../json/values.ts";
import { METADATA_REFUSED, rejected, RestError } from "../../rest/errors.ts";
import { findDocument } from "../documents/find-document.ts";
import { readBack } from "../retry/retry.ts";
import { hasAlready } from "../service/arrival.ts";
import type { Service } from "../service/service.ts";
import { type Write, writeMetadata } from "../service/write.ts";
import type { RowAttempt } from "./operation.ts";
import { beforeFirstAttempt } from "./prepare-update.ts";

/**
 * If the service has refused metadata and removed what the document had, that is written again.
 *
 * RAGFlow from v0.24 on has one type for each key. It answers a value of another type with code 102; by then v0.24.0 and
 * v0.25.3 to v0.27.0 have removed all metadata of the document.
 *
 * A search engine that is away refuses every update in the same words, and is waited for.
 *
 * @param image what the document had; undefined where that is not known
 * @param tries tries before this one
 * @returns whether the metadata has arrived nevertheless; otherwise it is to be written once more
 * @throws the error of the write, or a RestError that also says what the document has now
 */
export async function afterRefusal(
	error: unknown,
	attempt: RowAttempt,
	write: Write,
	{ image, tries }: { readonly image: Metadata | undefined; readonly tries: number },
): Promise<boolean> {
	if (!(error instanceof RestError) || error.code !== METADATA_REFUSED) throw error;
	const { service, request, memory } = attempt;
	memory.maybeWritten = true;
	// A run that ends now must not leave a document without what it had.
	const restoring = { ...attempt, request: request.finishing ?? request };
	const before = image === undefined || image.size === 0 ? beforeFirstAttempt(attempt) : image;
	const dataset = { api: service.api, request: restoring.request, datasetId: write.datasetId };
	const present = (await findDocument(dataset, write.documentId))?.metadata;
	if (present !== undefined && hasAlready(present, write.metadata, service.api.dialect.flavour.normalise)) return true;
	const hasSome = present !== undefined && present.size > 0;
	if (service.typedKeys.clashes(write.metadata).length === 0 && tries < MOST_TRIES) {
		const isBack = !hasSome && (await wasAway(restoring, write, before));
		// Also where it was back before it was asked.
		if (isBack || tries === 0) return false;
	}
	const end = hasSome ? "the document keeps what it had" : await restore(restoring, write, before ?? image);
	const text = `${error.message}: ${clashText(service, write.metadata)}; ${end}`;
	throw rejected(METADATA_REFUSED, text, { status: error.status, cause: error });
}

/** Tries after the first: an engine that is away again and again is no reason of the row. */
const MOST_TRIES = 3;

/** Whether the search engine was away as a whole when it refused an update, and works now. */
function wasAway(
	attempt: RowAttempt,
	{ datasetId, documentId }: Write,
	before: Metadata | undefined,
): Promise<boolean> {
	const { service, request } = attempt;
	const accepts = async (): Promise<boolean> => {
		if (before === undefined || before.size === 0) return false;
		return (await writeAgain(attempt, { datasetId, documentId, metadata: before })) === undefined;
	};
	return service.searches.wasAway({ api: service.api, datasetId, documents: [] }, request, accepts);
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

/** @returns what has become of the document's metadata, as a clause */
async function restore(attempt: RowAttempt, write: Write, before: Metadata | undefined): Promise<string> {
	const { service, request } = attempt;
	const { datasetId, documentId } = write;
	if (before === undefined) return "the document has no metadata now, and what it had is not known";
	if (before.size === 0) return "the document has no metadata, as before";
	const refusal = await writeAgain(attempt, { datasetId, documentId, metadata: before });
	if (refusal !== undefined) {
		return `the document has no metadata now, and what it had could not be written again (${refusal.message}); runs undo tries it once more`;
	}
	const { normalise } = service.api.dialect.flavour;
	const isShown = async (): Promise<boolean> => {
		const document = await findDocument({ api: service.api, request, datasetId }, documentId);
		return document?.metadata !== undefined && hasAlready(document.metadata, before, normalise);
	};
	return (await readBack(isShown, service))
		? "the document had lost all metadata, and what it had was written again"
		: "what the document had was written again, and the list does not show it; runs undo tries it once more";
}

/** Writes what a document had. @returns the refusal, if it was refused; after any other failure the row is tried again as a whole */
async function writeAgain({ service, request, item, log }: RowAttempt, write: Write): Promise<RestError | undefined> {
	const { documentId, metadata } = write;
	await log.sending(item, { write: "update", documentId, metadata, before: metadata });
	try {
		await writeMetadata(service, request, write, {});
		return undefined;
	} catch (error) {
		if (!(error instanceof RestError) || error.kind !== "rejected") throw error;
		return error;
	}
}
