import { membersText, rawMembers } from "../members.ts";
import { isObject } from "../object.ts";
import type { Store } from "../store/index.ts";
import { readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { Code, exception, Failure, noDataset, success } from "./failure.ts";
import { storedValue } from "./metadata.ts";

/** POST /datasets/<dataset_id>/metadata/update: one set of values for many documents. */
export const bulkUpdate: Route = async (call, { store, updated }) => {
	const { value } = await readJson(call.request, call.release);
	if (call.release.bulkUpdate === "broken") throw exception("AttributeError(\"object has no attribute 'get'\")");
	const ids = await store.commits.write(() => {
		if (store.datasets.find(call.datasetId) === undefined) throw noDataset(call.datasetAsked);
		const { selector = {}, updates = [], deletes = [] } = isObject(value) ? value : {};
		const changes = { set: listOf(updates, "updates"), drop: listOf(deletes, "deletes") };
		const selected = selectedIds(store, call, selector);
		for (const id of selected) change(store, call, id, changes);
		return selected;
	});
	for (const _ of ids) updated();
	return success(JSON.stringify({ updated: ids.length, matched_docs: ids.length }));
};

function selectedIds(store: Store, { datasetId, release }: Call, selector: unknown): string[] {
	if (!isObject(selector)) throw new Failure(Code.data, "selector must be an object.");
	const named = selector["document_ids"] ?? [];
	if (!Array.isArray(named)) throw new Failure(Code.data, "document_ids must be a list.");
	if (named.length === 0) {
		if (release.bulkUpdate === "all-unless-named") return store.documents.ids(datasetId);
		throw exception("UnboundLocalError(\"local variable 'target_doc_ids' referenced before assignment\")");
	}
	const ids = [...new Set(named.map(String))];
	const strange = ids.filter((id) => store.documents.datasetOf(id) !== datasetId);
	if (strange.length === 0) return ids;
	throw new Failure(Code.data, `These documents do not belong to dataset ${datasetId}: ${strange.join(", ")}`);
}

type Changes = { readonly set: readonly Entry[]; readonly drop: readonly Entry[] };
type Entry = { readonly key: string; readonly value: unknown };

function listOf(value: unknown, name: "updates" | "deletes"): Entry[] {
	if (!Array.isArray(value)) throw new Failure(Code.data, "updates and deletes must be lists.");
	return value.map((entry: unknown) => {
		const key = isObject(entry) ? entry["key"] : undefined;
		const whole = isObject(entry) && (name === "deletes" || Object.hasOwn(entry, "value"));
		if (whole && typeof key === "string" && key !== "") return { key, value: entry["value"] };
		const why = name === "updates" ? "Each update requires key and value." : "Each delete requires key.";
		throw new Failure(Code.data, why);
	});
}

function change(store: Store, { datasetId, release }: Call, id: string, { set, drop }: Changes): void {
	const members = rawMembers(store.documents.metadata(datasetId, id) ?? "{}");
	for (const { key, value } of set) {
		const raw = JSON.stringify(value);
		members.set(key, release.splitsLists ? storedValue(raw, release.sameItems) : raw);
	}
	for (const { key } of drop) members.delete(key);
	store.documents.replaceMetadata(datasetId, id, membersText(members));
}
