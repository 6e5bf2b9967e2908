import type { Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { collationKey } from "../store/collation.ts";
import { datasetNameLimit, type ListedDataset } from "../store/datasets.ts";
import type { Store } from "../store/index.ts";
import { newId } from "../upload.ts";
import { datasetName, listQuery } from "./dataset-fields.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import { appendedName, freeName } from "./names.ts";
import { type Call, type Members, readJson, refuseUnknown, type Route, validatedMembers } from "./request.ts";

/** GET /datasets */
export const listDatasets: Route = async ({ query, release }, { store }) => {
	store.commits.flush();
	const { id, name, window, descending } = listQuery(query, release);
	const filter = { id: id === undefined ? undefined : collationKey(id), nameByCollation: name };
	// Id and name are checked one by one: an id and a name of two datasets find nothing, and are no error.
	if (id !== undefined && store.datasets.first({ id: filter.id }) === undefined) throw missingDataset(id, release);
	if (name !== undefined && !isTaken(store, name)) throw missingDataset(name, release);
	const found = store.datasets.list(filter, window, descending ? "newest-first" : "oldest-first");
	const data = success(JSON.stringify(found.map((each) => wholeDataset(each, release))));
	if (!release.datasets.total) return data;
	const filtered = id !== undefined || name !== undefined;
	const total = filtered ? store.datasets.list(filter).length : store.datasets.count();
	return `${data.slice(0, -1)},"total_datasets":${total}}`;
};

/** GET /datasets/<dataset_id> */
export const showDataset: Route = async ({ datasetId, sentDatasetId, release }, { store }) => {
	store.commits.flush();
	const found = store.datasets.first({ id: datasetId });
	if (found === undefined) throw missingDataset(sentDatasetId, release);
	return success(JSON.stringify(wholeDataset(found, release)), release.noMessage);
};

/** POST /datasets. Members other than the name are accepted and ignored. */
export const createDataset: Route = async (call, { store }) => {
	const { release } = call;
	const name = datasetName(await datasetMembers(call), release, "new");
	const { takenName } = release.datasets;
	if (takenName === "numbered" && Buffer.byteLength(name) > datasetNameLimit)
		throw new Failure(Code.data, `Dataset name length is ${name.length} which is large than ${datasetNameLimit}`);
	const id = newId();
	const stored = await store.commits.write(() => {
		const isRefused = takenName === "refused-102" || takenName === "refused-103";
		if (isRefused && isTaken(store, name)) throw nameTaken(name, takenName);
		const taken = (candidate: string): boolean => isTaken(store, candidate);
		const free = takenName === "appended" ? appendedName(name, "", taken) : freeName(name, taken);
		store.datasets.insert(id, free);
		return { id, name: free, document_count: 0 };
	});
	return success(JSON.stringify(wholeDataset(stored, release)), release.noMessage);
};

/** api/apps/sdk/dataset.py of v0.18.0 and v0.21.1; from v0.23 on names are numbered by `create_with_name`. */
function nameTaken(name: string, how: "refused-102" | "refused-103"): Failure {
	if (how === "refused-102") return new Failure(Code.data, "Duplicated dataset name in creating dataset.");
	return new Failure(Code.operating, `Dataset name '${name}' already exists`);
}

const knownMembers: ReadonlySet<string> = new Set(
	(
		"name avatar description embedding_model permission chunk_method parser_config parse_type pipeline_id " +
		"auto_metadata_config ext pagerank language"
	).split(" "),
);

/** The members of a body that creates or changes a dataset. */
export async function datasetMembers(call: Call): Promise<Members> {
	const { request, release } = call;
	if (release.datasets.checks === "loose") {
		const { value } = await readJson(request, release);
		if (isObject(value)) return value;
		throw exception("AttributeError(\"'NoneType' object has no attribute 'keys'\")");
	}
	const members = await validatedMembers(call);
	if (release.datasets.checks === "strict") refuseUnknown(members, knownMembers);
	return members;
}

export function isTaken(store: Store, name: string): boolean {
	return store.datasets.first({ nameByCollation: name }) !== undefined;
}

/** A dataset as a client receives it, with members that no client needs. */
export function wholeDataset(
	{ id, name, document_count: documents }: ListedDataset,
	{ parserMember }: Release,
): object {
	return {
		id,
		name,
		document_count: documents,
		avatar: null,
		chunk_count: 0,
		[parserMember]: "naive",
		description: null,
		embedding_model: "BAAI/bge-large-zh-v1.5@BAAI",
		language: "English",
		permission: "me",
		similarity_threshold: 0.2,
		status: "1",
		token_num: 0,
	};
}

export function missingDataset(idOrName: string, release: Release): Failure {
	const { datasets } = release;
	if (datasets.checks === "loose") return new Failure(datasets.missingCode, `You don't own the dataset ${idOrName}`);
	const message = `User 'sandbox' lacks permission for dataset '${idOrName}'`;
	return new Failure(datasets.missingCode, worded(message, release, "all"));
}
