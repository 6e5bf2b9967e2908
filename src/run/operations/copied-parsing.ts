import { rejected, RestError } from "../../rest/errors.ts";
import type { Parsing } from "../../rest/parsing.ts";
import type { Document, ParsingChange } from "../../rest/types.ts";
import { findDocument } from "../documents/find-document.ts";
import { readBack } from "../retry/retry.ts";
import type { KnownDataset } from "./store-file.ts";

/**
 * What a new document lacks of how the old one is parsed and found. A method that both have is never sent: up to v0.25.0 that
 * deletes chunks (RAGFlow v0.25.0 api/apps/restful_apis/document_api.py: update_document).
 */
function parsingChanges(old: Parsing | undefined, made: Parsing | undefined): readonly ParsingChange[] {
	const { chunkMethod = "", isEnabled } = old ?? {};
	const changes: ParsingChange[] = [];
	// An empty method is that of a pipeline, which belongs to the dataset.
	if (chunkMethod !== "" && made?.chunkMethod !== chunkMethod) changes.push({ chunk_method: chunkMethod });
	if (isEnabled === false && made?.isEnabled !== false) changes.push({ enabled: false });
	return changes;
}

/**
 * Gives a new document the chunk method of the old one, and disables it where the old one is disabled: questions must not find
 * what was hidden.
 *
 * @throws RestError of code `NOT_KEPT` where the service does not take that; the old document is still there
 */
export async function copyParsing(dataset: KnownDataset, old: Document, id: string): Promise<void> {
	const { service, api, request, datasetId } = dataset;
	const missing = async (): Promise<readonly ParsingChange[]> =>
		parsingChanges(old.parsing, (await findDocument(dataset, id))?.parsing);
	const changes = await missing();
	let refusal: RestError | undefined;
	for (const change of changes) {
		try {
			await request(() => api.changeParsing(datasetId, id, change));
		} catch (error) {
			// RAGFlow up to v0.24 answers 100 after it has disabled a document without chunks: the list shows what was done.
			if (!(error instanceof RestError) || !error.isRefusal) throw error;
			refusal = error;
		}
	}
	if (changes.length === 0) return;
	let left = changes;
	const isDone = async (): Promise<boolean> => (left = await missing()).length === 0;
	if (!(await readBack(isDone, service))) throw notKept(service.show(old.id), service.show(id), left, refusal);
	if (old.parsing?.isEnabled !== false) return;
	const text =
		"A document that is disabled gave its place to one that is disabled as well. RAGFlow parses no such document to the end: enable it, parse it, and disable it again.";
	service.noteOnce("DISABLED", text);
}

function notKept(old: string, made: string, left: readonly ParsingChange[], refusal: RestError | undefined): RestError {
	const what = left.map((change) => ("enabled" in change ? "is disabled" : `is parsed as ${change.chunk_method}`));
	const why = refusal === undefined ? "the service does not keep that" : refusal.message;
	const text = `document ${old} ${what.join(" and ")}, and the new one, ${made}, is not: ${why}; the old one was left as it was. Remove the new one with docs rm --id ${made}`;
	return rejected("NOT_KEPT", text, { cause: refusal });
}
