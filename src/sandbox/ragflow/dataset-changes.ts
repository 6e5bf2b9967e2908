import type { Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { isFalsy, pythonType } from "../python.ts";
import { collationKey } from "../store/collation.ts";
import type { Store } from "../store/index.ts";
import { datasetName } from "./dataset-fields.ts";
import { uuidOf } from "./dataset-query.ts";
import { datasetMembers, isTaken, missingDataset, wholeDataset } from "./datasets.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import { idsToRemove, refuseFirst, validId } from "./first-fault.ts";
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
	const strict = release.datasets.checks !== "loose";
	const inPlainWords = release.datasets.checks === "first-fault";
	if (inPlainWords) validId(sentDatasetId, release);
	const members = await datasetMembers(call);
	if (inPlainWords) refuseFirst(Object.keys(members), changeableMembers);
	const uuid = strict ? uuidOf(sentDatasetId, release) : { id: call.datasetId };
	if ("why" in uuid) throw fieldError("dataset_id", uuid.why, sentDatasetId);
	const named = Object.hasOwn(members, "name") && (!inPlainWords || members["name"] !== null);
	const name = named ? datasetName(members, release, "changed") : undefined;
	if (strict && !named && (inPlainWords || Object.keys(members).length === 0)) throw nothingModified(release);
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
	if (release.updateAnswer === "nothing") return success();
	return success(JSON.stringify(wholeDataset(row, release)), release.noMessage);
};

/** `updateDatasetAllowedFields` in handler/dataset.go:370 of v1.0 */
const changeableMembers: ReadonlySet<string> = new Set(
	(
		"name avatar description embedding_model permission parse_type pipeline_id chunk_method parser_id parser_config " +
		"auto_metadata_config ext dataset_id pagerank language connectors"
	).split(" "),
);

function nothingModified(release: Release): Failure {
	const words = worded("No properties were modified", release);
	return release.datasets.emptyRemoval === "removes-nothing" ? new Failure(Code.data, words) : argumentError(words);
}

/** DELETE /datasets, with the ids in the body. */
export const removeDatasets: Route = async (call, { store }) => {
	const { release } = call;
	const strict = release.datasets.checks !== "loose";
	const ids = strict ? await strictIds(call) : await looseIds(call);
	const answer = await store.commits.write((): string | Failure => {
		if (ids === "all") {
			for (const { id } of store.datasets.list({})) removeOne(store, id);
			return release.datasets.emptyRemoval === "removes-nothing" ? successCount(0, release) : success();
		}
		if (release.datasets.checks === "first-fault" && ids.length === 0) return success('{"deleted":[]}', null);
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
async function strictIds(call: Call): Promise<readonly string[] | "all"> {
	const { release } = call;
	const from025 = release.datasets.emptyRemoval === "removes-nothing";
	const members = await validatedMembers(call);
	if (release.datasets.checks === "first-fault") {
		refuseFirst(Object.keys(members), knownMembersFrom025);
		const sent = idsToRemove(members);
		return sent.all && sent.ids.length === 0 ? "all" : sent.ids.map((id) => validId(id, release));
	}
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
		throw new Failure(release.datasets.missingCode, worded(why, release, "all"));
	}
	for (const id of ids) removeOne(store, id);
	return release.datasets.emptyRemoval === "removes-nothing" ? successCount(ids.length, release) : success();
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

function successCount(count: number, { datasets, noMessage }: Release): string {
	const errors = datasets.checks === "first-fault" ? { errors: [] } : {};
	return success(JSON.stringify({ success_count: count, ...errors }), noMessage);
}
