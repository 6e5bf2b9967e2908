import { isObject, membersText, rawMembers } from "../json-text.ts";
import type { Store } from "../store/index.ts";
import { isFalsy } from "../python.ts";
import { changed, changesOf, type MetadataChanges } from "./batch-changes.ts";
import { Code, exception, Failure, noDataset, success } from "./failure.ts";
import { splitValue } from "./metadata.ts";
import { type Call, readJson, type Route } from "./request.ts";

/** POST /datasets/<dataset_id>/metadata/update: the same changes to the metadata of many documents. */
export const bulkUpdate: Route = async (call, { store, onUpdate }) => {
	const { release } = call;
	const { value } = await readJson(call.request, release);
	if (release.bulkUpdate === "broken") throw exception("AttributeError(\"object has no attribute 'get'\")");
	const { matched, updated } = await store.commits.write(() => {
		const dataset = store.datasets.find(call.datasetId);
		if (dataset === undefined) throw noDataset(call.sentDatasetId, release);
		const members = isObject(value) ? value : {};
		const changes = changesOf(members);
		const all = selectedIds(store, call, members["selector"] ?? {}) ?? store.documents.ids(dataset.seq);
		const differ = all.filter((id) => changeMetadata(store, call, id, changes));
		return { matched: all.length, updated: release.bulkUpdate === "by-value" ? differ.length : all.length };
	});
	for (let each = 0; each < updated; each++) onUpdate();
	return success(JSON.stringify({ updated, matched_docs: matched }));
};

/** The documents that a selector names; `undefined` where the release reads an empty selection as the whole dataset. */
function selectedIds(store: Store, { datasetId, release }: Call, selector: unknown): string[] | undefined {
	if (!isObject(selector)) throw new Failure(Code.data, "selector must be an object.");
	const { metadata_condition: condition, document_ids: named = [] } = selector;
	if (release.bulkUpdate === "by-value" && !isFalsy(condition) && !isObject(condition))
		throw new Failure(Code.data, "metadata_condition must be an object.");
	if (!Array.isArray(named)) throw new Failure(Code.data, "document_ids must be a list.");
	if (named.length === 0) {
		if (release.bulkUpdate === "all-unless-named") return undefined;
		if (release.bulkUpdate === "none-unless-named" || release.bulkUpdate === "by-value") return [];
		throw exception("UnboundLocalError(\"local variable 'target_doc_ids' referenced before assignment\")");
	}
	const ids = [...new Set(named.map(String))];
	const foreign = ids.filter((id) => store.documents.datasetOf(id) !== datasetId);
	if (foreign.length === 0) return ids;
	throw new Failure(Code.data, `These documents do not belong to dataset ${datasetId}: ${foreign.join(", ")}`);
}

/** Changes a document's metadata. @returns whether it differs now */
function changeMetadata(store: Store, { datasetId, release }: Call, id: string, changes: MetadataChanges): boolean {
	const before = rawMembers(store.documents.metadata(datasetId, id) ?? "{}");
	const members = release.bulkUpdate === "by-value" ? changed(before, changes) : replaced(before, changes);
	const after = membersText(
		new Map([...members].map(([key, raw]) => [key, release.splitsLists ? splitValue(raw, release) : raw])),
	);
	if (after === membersText(before)) return false;
	store.documents.replaceMetadata(datasetId, id, after);
	return true;
}

function replaced(before: ReadonlyMap<string, string>, { updates, deletes }: MetadataChanges): Map<string, string> {
	const members = new Map(before);
	for (const { key, value } of updates) members.set(key, JSON.stringify(value));
	for (const { key } of deletes) members.delete(key);
	return members;
}
