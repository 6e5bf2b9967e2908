import { isObject } from "../object.ts";
import type { Store } from "../store/index.ts";
import { readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { documentText } from "./document.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import { metadataText } from "./metadata.ts";

/** PUT or PATCH /datasets/<dataset_id>/documents/<document_id> */
export const updateDocument: Route = async (call, { store, updated }) => {
	const { datasetId, documentId, release } = call;
	const { text, value } = await readJson(call.request, release);
	const changed = await store.commits.write(() => {
		checkOwned(store, call);
		if (!isObject(value)) throw exception("TypeError(\"argument of type 'NoneType' is not iterable\")");
		// Nothing to change is a success, so a misspelt member is one, too.
		if (!Object.hasOwn(value, "meta_fields")) return false;
		return store.documents.replaceMetadata(datasetId, documentId, metadataText(text, value["meta_fields"], release));
	});
	if (changed) updated();
	return answerOf(store, call);
};

/** Only the owner's key updates: a member of the team is told that there is no such dataset of theirs. */
function checkOwned(store: Store, { datasetId, documentId, owner, release }: Call): void {
	if (!owner || store.datasets.find(datasetId) === undefined)
		throw new Failure(Code.data, worded("You don't own the dataset.", release));
	if (store.documents.datasetOf(documentId) !== datasetId)
		throw new Failure(Code.data, worded("The dataset doesn't own the document.", release));
}

function answerOf(store: Store, { datasetId, documentId, release }: Call): string {
	if (release.updateAnswer === "nothing") return success();
	const row = store.documents.row(documentId);
	// Removed by another request while this one was answered.
	if (row === undefined) throw new Failure(Code.data, "Dataset created failed");
	return success(documentText(row, datasetId, { metadata: release.updateAnswer === "document" }));
}
