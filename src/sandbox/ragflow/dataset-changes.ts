import { isObject } from "../object.ts";
import { isFalsy, pythonType } from "../python.ts";
import type { Release } from "../flavours/release.ts";
import { alike } from "../store/alike.ts";
import type { Store } from "../store/index.ts";
import { readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { datasetName, uuidOf } from "./dataset-fields.ts";
import { isTaken, membersOf, noSuchDataset, wholeDataset } from "./datasets.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import { argument, checkedMembers, field, refuseExtra } from "./fields.ts";

/** PUT /datasets/<dataset_id>: its name is changed, other settings are taken. */
export const updateDataset: Route = async (call, { store }) => {
	const { release, datasetAsked } = call;
	const strict = release.datasets.checks === "strict";
	const members = await membersOf(call);
	const uuid = strict ? uuidOf(datasetAsked, release) : { id: call.datasetId };
	if ("why" in uuid) throw field("dataset_id", uuid.why, datasetAsked);
	const name = Object.hasOwn(members, "name") ? datasetName(members, release) : undefined;
	if (strict && Object.keys(members).length === 0) throw nothingModified(release);
	const row = await store.commits.write(() => {
		const [found] = store.datasets.list({ id: alike(uuid.id), window: { limit: 1, offset: 0 } });
		if (found === undefined)
			throw strict ? noSuchDataset(datasetAsked, release) : new Failure(Code.data, "You don't own the dataset");
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
	return release.datasets.emptyRemoval === "removes-nothing" ? new Failure(Code.data, words) : argument(words);
}

/** DELETE /datasets, with the ids in the body. */
export const removeDatasets: Route = async (call, { store }) => {
	const { release } = call;
	const strict = release.datasets.checks === "strict";
	const ids = strict ? await checkedIds(call) : await looseIds(call);
	const answer = await store.commits.write((): string | Failure => {
		if (ids === "all") {
			for (const { id } of store.datasets.list({ window: { limit: -1, offset: 0 } })) removeOne(store, id);
			return release.datasets.emptyRemoval === "removes-nothing" ? counted(0) : success();
		}
		return strict ? removeNamed(store, ids, release) : removeLoosely(store, ids);
	});
	if (answer instanceof Failure) throw answer;
	return answer;
};

/** v0.18: what names none removes all. */
async function looseIds({ request, release }: Call): Promise<readonly string[] | "all"> {
	const { value } = await readJson(request, release);
	if (!isFalsy(value) && !isObject(value))
		throw exception(`AttributeError("'${pythonType(value)}' object has no attribute 'get'")`);
	const ids = isObject(value) ? value["ids"] : undefined;
	return isFalsy(ids) ? "all" : Array.from<unknown>(Array.isArray(ids) ? ids : String(ids)).map(String);
}

const members: ReadonlySet<string> = new Set(["ids"]);
const laterMembers: ReadonlySet<string> = new Set(["ids", "delete_all"]);

/** From v0.19 on: null is all of them, and an empty list none; from v0.25 on it takes `delete_all` for all. */
async function checkedIds({ request, release }: Call): Promise<readonly string[] | "all"> {
	const later = release.datasets.emptyRemoval === "removes-nothing";
	const given = await checkedMembers(request);
	if (!later && !Object.hasOwn(given, "ids")) {
		refuseExtra(given, members);
		throw field("ids", "Field required", given);
	}
	refuseExtra(given, later ? laterMembers : members);
	const ids = given["ids"] ?? null;
	if (ids === null || (Array.isArray(ids) && ids.length === 0)) {
		const all = later ? given["delete_all"] === true : ids === null;
		return all ? "all" : [];
	}
	if (!Array.isArray(ids)) throw field("ids", "Input should be a valid list", ids);
	const found = ids.map((id: unknown, at) => {
		if (typeof id !== "string") throw field(`ids.${at}`, "Input should be a valid string", id);
		const uuid = uuidOf(id, release);
		if ("why" in uuid) throw field("ids", uuid.why, ids);
		return uuid.id;
	});
	const repeated = [...new Set(found.filter((id, at) => found.indexOf(id) !== at))];
	if (repeated.length > 0) throw field("ids", `Duplicate ids: '${repeated.join(", ")}'`, ids);
	return found;
}

/** All of them, or nothing. */
function removeNamed(store: Store, ids: readonly string[], release: Release): string {
	const absent = ids.filter((id) => store.datasets.find(id) === undefined);
	if (absent.length > 0) {
		const why = `User 'sandbox' lacks permission for datasets: '${absent.join(", ")}'`;
		throw new Failure(release.datasets.absentCode, why);
	}
	for (const id of ids) removeOne(store, id);
	return release.datasets.emptyRemoval === "removes-nothing" ? counted(ids.length) : success();
}

/** What is there goes, and what is not is told after it. */
function removeLoosely(store: Store, ids: readonly string[]): string | Failure {
	const unique = [...new Set(ids)];
	const absent = unique.filter((id) => !removeOne(store, alike(id)));
	const errors = absent.map((id) => `You don't own the dataset ${id}`);
	const gone = unique.length - absent.length;
	if (errors.length > 0 && gone === 0) return new Failure(Code.data, errors.join("; "));
	const repeated = unique.filter((id) => ids.indexOf(id) !== ids.lastIndexOf(id));
	const told = errors.length > 0 ? errors : repeated.map((id) => `Duplicate dataset ids: ${id}`);
	return told.length === 0 ? success() : success(JSON.stringify({ success_count: gone, errors: told }));
}

function removeOne(store: Store, id: string): boolean {
	const dataset = store.datasets.find(id);
	if (dataset === undefined) return false;
	store.documents.removeAll(dataset.seq);
	store.datasets.remove(dataset.seq);
	store.pages.forget();
	return true;
}

function counted(number: number): string {
	return success(JSON.stringify({ success_count: number }));
}
