import { isObject } from "../json-text.ts";
import { isFalsy, pythonRepr, pythonType } from "../python.ts";
import { collationKey } from "../store/collation.ts";
import type { Store } from "../store/index.ts";
import { Code, exception, Failure, noDataset, success } from "./failure.ts";
import { idsToRemove } from "./first-fault.ts";
import {
	type Body,
	type Call,
	fieldError,
	type Members,
	readJson,
	refuseUnknown,
	type Route,
	validatedMembers,
} from "./request.ts";

/** DELETE /datasets/<dataset_id>/documents, with the ids in the body. */
export const removeDocuments: Route = async (call, { store }) => {
	const removal = call.release.emptyRemoval === "refused" ? await strictRemoval(call) : await looseRemoval(call);
	const answer = await store.commits.write(() => {
		const dataset = store.datasets.find(call.datasetId);
		if (dataset === undefined) throw noDataset(call.sentDatasetId, call.release);
		return removal(store, dataset.seq);
	});
	if (answer instanceof Failure) throw answer;
	return answer;
};

/** Runs in one write. It throws a failure before it removes anything, and returns one afterwards. */
type Removal = (store: Store, dataset: number) => string | Failure;

/**
 * Up to v0.25.0 (api/apps/sdk/doc.py): ids are looked up in every dataset. A request that names no document, in
 * whatever way, removes all, or later nothing. Unknown ids are reported after the others are removed.
 */
async function looseRemoval(call: Call): Promise<Removal> {
	const body = await readJson(call.request, call.release);
	return (store, dataset) => {
		const ids = idsOf(body);
		if (isFalsy(ids)) {
			const all = isObject(body.value) && body.value["delete_all"] === true;
			if (call.release.emptyRemoval === "removes-all" || all) removeAll(store, dataset);
			return success();
		}
		if (!Array.isArray(ids) && typeof ids !== "string") throw exception("TypeError('object is not iterable')");
		return removeEach(store, Array.from<unknown>(ids));
	};
}

function idsOf({ value }: Body): unknown {
	if (!isFalsy(value) && !isObject(value))
		throw exception(`AttributeError("'${pythonType(value)}' object has no attribute 'get'")`);
	return isObject(value) ? value["ids"] : undefined;
}

function removeEach(store: Store, ids: readonly unknown[]): string | Failure {
	const unique = new Set<unknown>();
	const repeated = new Set<unknown>();
	for (const id of ids) (unique.has(id) ? repeated : unique).add(id);
	const missing = [...unique].filter((id) => !removeOne(store, collationKey(String(id))));
	if (missing.length > 0) return new Failure(Code.data, `Documents not found: ${pythonRepr(missing)}`);
	if (repeated.size === 0) return success();
	const errors = [...repeated].map((id) => `Duplicate document ids: ${String(id)}`);
	return success(JSON.stringify({ success_count: unique.size, errors }));
}

const knownMembers: ReadonlySet<string> = new Set(["ids", "delete_all"]);

/** From v0.26 on (api/apps/restful_apis/document_api.py): the named documents of this dataset, all of them or none. */
async function strictRemoval(call: Call): Promise<Removal> {
	const { datasetId, sentDatasetId, release } = call;
	const members = await validatedMembers(call);
	const { ids, all } = release.reads === "as-go" ? idsToRemove(members) : strictIds(members);
	const where = release.reads === "as-go" ? "" : `, dataset: ${datasetId}. `;
	const done = (deleted: number): string => success(JSON.stringify({ deleted }), release.removalMessage);
	return (store, dataset) => {
		if (!all && ids.length === 0) throw refused(`should either provide doc ids or set delete_all(true)${where}`);
		if (all && ids.length > 0) throw refused(`should not provide both doc ids and delete_all(true)${where}`);
		if (all) return done(removeAll(store, dataset));
		const named = release.removedIds === "exact" ? ids : ids.map(collationKey);
		const isHere = release.removedIds === "exact" || sentDatasetId === datasetId;
		const foreign = ids.filter((_, at) => !isHere || store.documents.datasetOf(named[at] ?? "") !== datasetId);
		if (foreign.length > 0) {
			const which = `dataset ${datasetId} or Document not found: ${foreign.join(", ")}`;
			throw refused(`These documents do not belong to ${which}`);
		}
		for (const id of named) removeOne(store, id);
		return done(ids.length);
	};
}

function strictIds(members: Members): { readonly ids: readonly string[]; readonly all: boolean } {
	refuseUnknown(members, knownMembers);
	const { ids: sent = null, delete_all: all = false } = members;
	if (sent !== null && !Array.isArray(sent)) throw fieldError("ids", "Input should be a valid list", sent);
	const ids = (sent ?? []).map((id: unknown, index) => {
		if (typeof id === "string") return id;
		throw fieldError(`ids.${index}`, "Input should be a valid string", id);
	});
	const repeated = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
	if (repeated.length > 0) throw fieldError("ids", `Duplicate ids: '${repeated.join(", ")}'`, sent);
	if (typeof all !== "boolean")
		throw fieldError("delete_all", "Input should be a valid boolean, unable to interpret input", all);
	return { ids, all };
}

function removeAll(store: Store, dataset: number): number {
	const removed = store.documents.removeAll(dataset);
	store.datasets.addToCount(dataset, -removed);
	store.pages.forgetStarts();
	return removed;
}

function removeOne(store: Store, id: string): boolean {
	const datasetId = store.documents.datasetOf(id);
	const dataset = datasetId === undefined ? undefined : store.datasets.find(datasetId);
	if (datasetId === undefined || dataset === undefined) return false;
	store.documents.remove(datasetId, id);
	store.datasets.addToCount(dataset.seq, -1);
	store.pages.forgetStarts();
	return true;
}

function refused(message: string): Failure {
	return new Failure(Code.data, message);
}
