import { isObject, membersText, rawMembers } from "../json-text.ts";
import type { Store } from "../store/index.ts";
import { Code, exception, Failure, noDataset, success } from "./failure.ts";
import { splitValue } from "./metadata.ts";
import { type Call, readJson, type Route } from "./request.ts";

/** POST /datasets/<dataset_id>/metadata/update: the same changes to the metadata of many documents. */
export const bulkUpdate: Route = async (call, { store, onUpdate }) => {
	const { value } = await readJson(call.request, call.release);
	if (call.release.bulkUpdate === "broken") throw exception("AttributeError(\"object has no attribute 'get'\")");
	const ids = await store.commits.write(() => {
		const dataset = store.datasets.find(call.datasetId);
		if (dataset === undefined) throw noDataset(call.sentDatasetId, call.release);
		const { selector = {}, updates = [], deletes = [] } = isObject(value) ? value : {};
		const changes = { updates: entriesOf(updates, "updates"), deletes: entriesOf(deletes, "deletes") };
		const selected = selectedIds(store, call, selector) ?? store.documents.ids(dataset.seq);
		for (const id of selected) changeMetadata(store, call, id, changes);
		return selected;
	});
	for (const _ of ids) onUpdate();
	return success(JSON.stringify({ updated: ids.length, matched_docs: ids.length }));
};

/** The documents that a selector names; `undefined` where the release reads an empty selection as the whole dataset. */
function selectedIds(store: Store, { datasetId, release }: Call, selector: unknown): string[] | undefined {
	if (!isObject(selector)) throw new Failure(Code.data, "selector must be an object.");
	const named = selector["document_ids"] ?? [];
	if (!Array.isArray(named)) throw new Failure(Code.data, "document_ids must be a list.");
	if (named.length === 0) {
		if (release.bulkUpdate === "all-unless-named") return undefined;
		if (release.bulkUpdate === "none-unless-named") return [];
		throw exception("UnboundLocalError(\"local variable 'target_doc_ids' referenced before assignment\")");
	}
	const ids = [...new Set(named.map(String))];
	const foreign = ids.filter((id) => store.documents.datasetOf(id) !== datasetId);
	if (foreign.length === 0) return ids;
	throw new Failure(Code.data, `These documents do not belong to dataset ${datasetId}: ${foreign.join(", ")}`);
}

type MetadataChanges = { readonly updates: readonly Entry[]; readonly deletes: readonly Entry[] };
type Entry = { readonly key: string; readonly value: unknown };

function entriesOf(value: unknown, member: keyof MetadataChanges): Entry[] {
	if (!Array.isArray(value)) throw new Failure(Code.data, "updates and deletes must be lists.");
	return value.map((entry: unknown) => {
		const key = isObject(entry) ? entry["key"] : undefined;
		const whole = isObject(entry) && (member === "deletes" || Object.hasOwn(entry, "value"));
		if (whole && typeof key === "string" && key !== "") return { key, value: entry["value"] };
		const why = member === "updates" ? "Each update requires key and value." : "Each delete requires key.";
		throw new Failure(Code.data, why);
	});
}

function changeMetadata(
	store: Store,
	{ datasetId, release }: Call,
	id: string,
	{ updates, deletes }: MetadataChanges,
): void {
	const members = rawMembers(store.documents.metadata(datasetId, id) ?? "{}");
	for (const { key, value } of updates) {
		const raw = JSON.stringify(value);
		members.set(key, release.splitsLists ? splitValue(raw, release) : raw);
	}
	for (const { key } of deletes) members.delete(key);
	store.documents.replaceMetadata(datasetId, id, membersText(members));
}
