import { isObject } from "../object.ts";
import type { Store } from "../store/index.ts";
import { type Body, readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { Code, exception, Failure, noDataset, success } from "./failure.ts";

/** DELETE /datasets/<dataset_id>/documents, with the ids in the body. */
export const removeDocuments: Route = async (call, { store }) => {
	const body = await readJson(call.request, call.release);
	const answer = await store.commits.write(() => {
		const dataset = store.datasets.find(call.datasetId);
		if (dataset === undefined) throw noDataset(call.datasetId);
		const remove = call.release.emptyRemoval === "removes-all" ? removeOrAll : removeNamed;
		return remove(store, dataset.seq, call, body);
	});
	if (answer instanceof Failure) throw answer;
	return answer;
};

/**
 * Up to v0.24: what names no id, in whatever way, removes all; an id is looked for in every dataset. Ids that are not
 * there are told when the others are removed, so that failure is returned: what is thrown must not have written.
 */
function removeOrAll(store: Store, dataset: number, _call: Call, { value }: Body): string | Failure {
	if (!isNothing(value) && !isObject(value)) throw exception("AttributeError(\"object has no attribute 'get'\")");
	const ids = isObject(value) ? value["ids"] : undefined;
	if (isNothing(ids)) {
		removeAll(store, dataset);
		return success();
	}
	if (!Array.isArray(ids) && typeof ids !== "string") throw exception("TypeError('object is not iterable')");
	const unique = new Set<string>();
	const repeated = new Set<string>();
	for (const id of Array.from<unknown>(ids).map(String)) (unique.has(id) ? repeated : unique).add(id);
	const missing = [...unique].filter((id) => !removeOne(store, id));
	if (missing.length > 0)
		return new Failure(Code.data, `Documents not found: [${missing.map((id) => `'${id}'`).join(", ")}]`);
	if (repeated.size === 0) return success();
	const errors = [...repeated].map((id) => `Duplicate document ids: ${id}`);
	return success(JSON.stringify({ success_count: unique.size, errors }));
}

/** Later: only what is named, and all of it or nothing. */
function removeNamed(store: Store, dataset: number, { datasetId }: Call, { value }: Body): string {
	const { ids, delete_all: all = false, ...others } = isObject(value) ? value : {};
	for (const [name, other] of Object.entries(others))
		throw refused(`Field: <${name}> - Message: <Extra inputs are not permitted> - Value: <${JSON.stringify(other)}>`);
	const named = Array.isArray(ids) ? ids.map(String) : [];
	if (all !== true) {
		if (named.length === 0)
			throw refused(`should either provide doc ids or set delete_all(true), dataset: ${datasetId}. `);
		const strange = named.filter((id) => store.documents.datasetOf(id) !== datasetId);
		if (strange.length > 0)
			throw refused(`These documents do not belong to dataset ${datasetId}: ${strange.join(", ")}`);
		for (const id of named) removeOne(store, id);
		return success(JSON.stringify({ deleted: named.length }));
	}
	if (named.length > 0) throw refused(`should not provide both doc ids and delete_all(true), dataset: ${datasetId}. `);
	return success(JSON.stringify({ deleted: removeAll(store, dataset) }));
}

function removeAll(store: Store, dataset: number): number {
	const removed = store.documents.removeAll(dataset);
	store.datasets.addToCount(dataset, -removed);
	store.pages.forget();
	return removed;
}

function removeOne(store: Store, id: string): boolean {
	const owner = store.documents.datasetOf(id);
	const dataset = owner === undefined ? undefined : store.datasets.find(owner);
	if (owner === undefined || dataset === undefined) return false;
	store.documents.remove(owner, id);
	store.datasets.addToCount(dataset.seq, -1);
	store.pages.forget();
	return true;
}

/** What counts as nothing where truth is what is not empty. */
function isNothing(value: unknown): boolean {
	if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
	return value === undefined || value === null || value === "" || value === 0 || value === false;
}

function refused(message: string): Failure {
	return new Failure(Code.data, message);
}
