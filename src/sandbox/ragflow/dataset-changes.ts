import type { Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { isFalsy, pythonType } from "../python.ts";
import { collationKey } from "../store/collation.ts";
import type { Store } from "../store/index.ts";
import { datasetName, uuidOf } from "./dataset-fields.ts";
import { datasetMembers, isTaken, missingDataset, wholeDataset } from "./datasets.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import {
	argumentError,
	type Call,
	fieldError,
	readJson,
	refuseUnknown,
	type Route,
	validatedMembers,
} from "./request.ts";

/** PUT /datasets/<dataset_id>: the name is changed; other settings are accepted and ignored. */
export const updateDataset: Route = async (call, { store }) => {
	const { release, sentDatasetId } = call;
	const strict = release.datasets.checks === "strict";
	const members = await datasetMembers(call);
	const uuid = strict ? uuidOf(sentDatasetId, release) : { id: call.datasetId };
	if ("why" in uuid) throw fieldError("dataset_id", uuid.why, sentDatasetId);
	const name = Object.hasOwn(members, "name") ? datasetName(members, release) : undefined;
	if (strict && Object.keys(members).length === 0) throw nothingModified(release);
	const row = await store.commits.write(() => {
		const found = store.datasets.first({ id: collationKey(uuid.id) });
		if (found === undefined)
			throw strict ? missingDataset(sentDatasetId, release) : new Failure(Code.data, "You don't own the dataset");
		if (name === undefined) return found;
		if (name.toLowerCase() !== found.name.toLowerCase() && isTaken(store, name)) {
			const why = strict ? `Dataset name '${name}' already exists` : "Duplicated dataset name in updating dataset.";
			throw new Failure(Code.data, why);
		}
		store.datasets.rename(found.id, name);
		return { ...found, name };
	});
	return release.updateAnswer === "nothing" ? success() : success(JSON.stringify(wholeDataset(row)));
};

function nothingModified(release: Release): Failure {
	const words = worded("No properties were modified", release);
	return release.datasets.emptyRemoval === "removes-nothing" ? new Failure(Code.data, words) : argumentError(words);
}

/** DELETE /datasets, with the ids in the body. */
export const removeDatasets: Route = async (call, { store }) => {
	const { release } = call;
	const strict = release.datasets.checks === "strict";
	const ids = strict ? await strictIds(call) : await looseIds(call);
	const answer = await store.commits.write((): string | Failure => {
		if (ids === "all") {
			for (const { id } of store.datasets.list({})) removeOne(store, id);
			return release.datasets.emptyRemoval === "removes-nothing" ? successCount(0) : success();
		}
		return strict ? removeAllOrNone(store, ids, release) : removeEach(store, ids);
	});
	if (answer instanceof Failure) throw answer;
	return answer;
};

/** v0.18: a request that names no dataset removes all. */
async function looseIds({ request, release }: Call): Promise<readonly string[] | "all"> {
	const { value } = await readJson(request, release);
	if (!isFalsy(value) && !isObject(value))
		throw exception(`AttributeError("'${pythonType(value)}' object has no attribute 'get'")`);
	const ids = isObject(value) ? value["ids"] : undefined;
	return isFalsy(ids) ? "all" : Array.from<unknown>(Array.isArray(ids) ? ids : String(ids)).map(String);
}

const knownMembers: ReadonlySet<string> = new Set(["ids"]);
const knownMembersFrom025: ReadonlySet<string> = new Set(["ids", "delete_all"]);

/** From v0.19 on null means all datasets, and an empty list none. From v0.25 on only `delete_all` means all. */
async function strictIds({ request, release }: Call): Promise<readonly string[] | "all"> {
	const from025 = release.datasets.emptyRemoval === "removes-nothing";
	const members = await validatedMembers(request);
	if (!from025 && !Object.hasOwn(members, "ids")) {
		refuseUnknown(members, knownMembers);
		throw fieldError("ids", "Field required", members);
	}
	refuseUnknown(members, from025 ? knownMembersFrom025 : knownMembers);
	const ids = members["ids"] ?? null;
	if (ids === null || (Array.isArray(ids) && ids.length === 0)) {
		const all = from025 ? members["delete_all"] === true : ids === null;
		return all ? "all" : [];
	}
	if (!Array.isArray(ids)) throw fieldError("ids", "Input should be a valid list", ids);
	const found = ids.map((id: unknown, index) => {
		if (typeof id !== "string") throw fieldError(`ids.${index}`, "Input should be a valid string", id);
		const uuid = uuidOf(id, release);
		if ("why" in uuid) throw fieldError("ids", uuid.why, ids);
		return uuid.id;
	});
	const repeated = [...new Set(found.filter((id, index) => found.indexOf(id) !== index))];
	if (repeated.length > 0) throw fieldError("ids", `Duplicate ids: '${repeated.join(", ")}'`, ids);
	return found;
}

function removeAllOrNone(store: Store, ids: readonly string[], release: Release): string {
	const missing = ids.filter((id) => store.datasets.find(id) === undefined);
	if (missing.length > 0) {
		const why = `User 'sandbox' lacks permission for datasets: '${missing.join(", ")}'`;
		throw new Failure(release.datasets.missingCode, why);
	}
	for (const id of ids) removeOne(store, id);
	return release.datasets.emptyRemoval === "removes-nothing" ? successCount(ids.length) : success();
}

/** Removes the datasets that exist, and reports the others. */
function removeEach(store: Store, ids: readonly string[]): string | Failure {
	const unique = [...new Set(ids)];
	const missing = unique.filter((id) => !removeOne(store, collationKey(id)));
	const errors = missing.map((id) => `You don't own the dataset ${id}`);
	const removed = unique.length - missing.length;
	if (errors.length > 0 && removed === 0) return new Failure(Code.data, errors.join("; "));
	const repeated = unique.filter((id) => ids.indexOf(id) !== ids.lastIndexOf(id));
	const reported = errors.length > 0 ? errors : repeated.map((id) => `Duplicate dataset ids: ${id}`);
	return reported.length === 0 ? success() : success(JSON.stringify({ success_count: removed, errors: reported }));
}

function removeOne(store: Store, id: string): boolean {
	const dataset = store.datasets.find(id);
	if (dataset === undefined) return false;
	store.documents.removeAll(dataset.seq);
	store.datasets.remove(dataset.seq);
	store.pages.forgetStarts();
	return true;
}

function successCount(count: number): string {
	return success(JSON.stringify({ success_count: count }));
}
