import { isObject } from "../object.ts";
import type { Store } from "../store/index.ts";
import { alike } from "../store/alike.ts";
import { type Body, readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { Code, exception, Failure, noDataset, success } from "./failure.ts";
import { checkedMembers, field, refuseExtra } from "./fields.ts";
import { isFalsy, pythonRepr, pythonType } from "../python.ts";

/** DELETE /datasets/<dataset_id>/documents, with the ids in the body. */
export const removeDocuments: Route = async (call, { store }) => {
	const work = call.release.emptyRemoval === "refused" ? await named(call) : await looselyNamed(call);
	const answer = await store.commits.write(() => {
		const dataset = store.datasets.find(call.datasetId);
		if (dataset === undefined) throw noDataset(call.datasetAsked);
		return work(store, dataset.seq);
	});
	if (answer instanceof Failure) throw answer;
	return answer;
};

/** What is done in one write. A failure that is returned was met after something was removed. */
type Work = (store: Store, dataset: number) => string | Failure;

/**
 * Up to v0.25.0 (api/apps/sdk/doc.py): an id is looked for in every dataset, and what names none, in whatever way,
 * removes all, or later nothing. Ids that are not there are told when the others are removed.
 */
async function looselyNamed(call: Call): Promise<Work> {
	const body = await readJson(call.request, call.release);
	return (store, dataset) => {
		const ids = idsOf(body);
		if (isFalsy(ids)) {
			const all = isObject(body.value) && body.value["delete_all"] === true;
			if (call.release.emptyRemoval === "removes-all" || all) removeAll(store, dataset);
			return success();
		}
		if (!Array.isArray(ids) && typeof ids !== "string") throw exception("TypeError('object is not iterable')");
		return removeEach(store, Array.from<unknown>(ids).map(String));
	};
}

function idsOf({ value }: Body): unknown {
	if (!isFalsy(value) && !isObject(value))
		throw exception(`AttributeError("'${pythonType(value)}' object has no attribute 'get'")`);
	return isObject(value) ? value["ids"] : undefined;
}

function removeEach(store: Store, ids: readonly string[]): string | Failure {
	const unique = new Set<string>();
	const repeated = new Set<string>();
	for (const id of ids) (unique.has(id) ? repeated : unique).add(id);
	const missing = [...unique].filter((id) => !removeOne(store, alike(id)));
	if (missing.length > 0) return new Failure(Code.data, `Documents not found: ${pythonRepr(missing)}`);
	if (repeated.size === 0) return success();
	const errors = [...repeated].map((id) => `Duplicate document ids: ${id}`);
	return success(JSON.stringify({ success_count: unique.size, errors }));
}

const known: ReadonlySet<string> = new Set(["ids", "delete_all"]);

/** From v0.26 on (api/apps/restful_apis/document_api.py): only what is named, and all of it or nothing. */
async function named({ request, datasetId }: Call): Promise<Work> {
	const members = await checkedMembers(request);
	refuseExtra(members, known);
	const { ids: given = null, delete_all: all = false } = members;
	if (given !== null && !Array.isArray(given)) throw field("ids", "Input should be a valid list", given);
	const ids = (given ?? []).map((id: unknown, at) => {
		if (typeof id === "string") return id;
		throw field(`ids.${at}`, "Input should be a valid string", id);
	});
	const repeated = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
	if (repeated.length > 0) throw field("ids", `Duplicate ids: '${repeated.join(", ")}'`, given);
	if (typeof all !== "boolean")
		throw field("delete_all", "Input should be a valid boolean, unable to interpret input", all);
	return (store, dataset) => {
		if (!all && ids.length === 0)
			throw refused(`should either provide doc ids or set delete_all(true), dataset: ${datasetId}. `);
		if (all && ids.length > 0)
			throw refused(`should not provide both doc ids and delete_all(true), dataset: ${datasetId}. `);
		if (all) return success(JSON.stringify({ deleted: removeAll(store, dataset) }));
		const strange = ids.filter((id) => store.documents.datasetOf(id) !== datasetId);
		if (strange.length > 0) {
			const which = `dataset ${datasetId} or Document not found: ${strange.join(", ")}`;
			throw refused(`These documents do not belong to ${which}`);
		}
		for (const id of ids) removeOne(store, id);
		return success(JSON.stringify({ deleted: ids.length }));
	};
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

function refused(message: string): Failure {
	return new Failure(Code.data, message);
}
