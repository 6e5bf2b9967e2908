import type { WireDataset } from "../store/datasets.ts";
import type { Release } from "../flavours/release.ts";
import { isObject } from "../object.ts";
import { newId } from "../routes/call.ts";
import { datasetNameLimit } from "../settings.ts";
import { alike } from "../store/alike.ts";
import type { Store } from "../store/index.ts";
import { readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { datasetName, listQuery } from "./dataset-fields.ts";
import { Code, exception, Failure, success } from "./failure.ts";
import { checkedMembers, refuseExtra } from "./fields.ts";
import { freeName } from "./names.ts";

const one = { limit: 1, offset: 0 };

/** GET /datasets */
export const listDatasets: Route = async ({ query, release }, { store }) => {
	store.commits.flush();
	const { id, name, window, descending } = listQuery(query, release);
	// Each by itself: an id and a name of two datasets find nothing, and are no error.
	for (const filter of [{ id: id === undefined ? undefined : alike(id) }, { like: name }]) {
		const what = filter.id ?? filter.like;
		if (what !== undefined && store.datasets.list({ ...filter, window: one }).length === 0)
			throw noSuchDataset("id" in filter ? (id ?? what) : what, release);
	}
	const filter = { id: id === undefined ? undefined : alike(id), like: name };
	const found = descending
		? store.datasets.newestFirst({ ...filter, window })
		: store.datasets.list({ ...filter, window });
	const data = success(JSON.stringify(found.map(wholeDataset)));
	if (!release.datasets.total) return data;
	const filtered = id !== undefined || name !== undefined;
	const total = filtered
		? store.datasets.list({ ...filter, window: { limit: -1, offset: 0 } }).length
		: store.datasets.count();
	return `${data.slice(0, -1)},"total_datasets":${total}}`;
};

/** GET /datasets/<dataset_id> */
export const showDataset: Route = async ({ datasetId, datasetAsked, release }, { store }) => {
	store.commits.flush();
	const [found] = store.datasets.list({ id: datasetId, window: one });
	if (found === undefined) throw noSuchDataset(datasetAsked, release);
	return success(JSON.stringify(wholeDataset(found)));
};

const known: ReadonlySet<string> = new Set(
	(
		"name avatar description embedding_model permission chunk_method parser_config parse_type pipeline_id " +
		"auto_metadata_config ext pagerank language"
	).split(" "),
);

/** POST /datasets. Members beside the name are taken, and nothing comes of them. */
export const createDataset: Route = async (call, { store }) => {
	const { release } = call;
	const members = await membersOf(call);
	const name = datasetName(members, release);
	if (release.datasets.takenName === "numbered" && Buffer.byteLength(name) > datasetNameLimit)
		throw new Failure(Code.data, `Dataset name length is ${name.length} which is large than ${datasetNameLimit}`);
	const id = newId();
	const stored = await store.commits.write(() => {
		const taken = (candidate: string): boolean => isTaken(store, candidate);
		if (release.datasets.takenName !== "numbered" && taken(name)) throw takenName(name, release.datasets.takenName);
		const free = freeName(name, taken);
		store.datasets.insert(id, free);
		return { id, name: free, document_count: 0 };
	});
	return success(JSON.stringify(wholeDataset(stored)));
};

/** The members of a body that names things about a dataset. */
export async function membersOf({ request, release }: Call): Promise<{ readonly [name: string]: unknown }> {
	if (release.datasets.checks === "loose") {
		const { value } = await readJson(request, release);
		if (isObject(value)) return value;
		throw exception("AttributeError(\"'NoneType' object has no attribute 'keys'\")");
	}
	const members = await checkedMembers(request);
	refuseExtra(members, known);
	return members;
}

export function isTaken(store: Store, name: string): boolean {
	return store.datasets.list({ like: name, window: one }).length > 0;
}

/** api/apps/sdk/dataset.py of v0.18.0 and v0.21.1; from v0.23 on names are numbered by `create_with_name`. */
function takenName(name: string, how: "refused-102" | "refused-103"): Failure {
	if (how === "refused-102") return new Failure(Code.data, "Duplicated dataset name in creating dataset.");
	return new Failure(Code.operating, `Dataset name '${name}' already exists`);
}

/** A dataset with members that a client has no use for, as it meets them. */
export function wholeDataset({ id, name, document_count: documents }: WireDataset): object {
	return {
		id,
		name,
		document_count: documents,
		avatar: null,
		chunk_count: 0,
		chunk_method: "naive",
		description: null,
		embedding_model: "BAAI/bge-large-zh-v1.5@BAAI",
		language: "English",
		permission: "me",
		similarity_threshold: 0.2,
		status: "1",
		token_num: 0,
	};
}

export function noSuchDataset(what: string, { datasets }: Release): Failure {
	if (datasets.checks === "loose") return new Failure(datasets.absentCode, `You don't own the dataset ${what}`);
	return new Failure(datasets.absentCode, `User 'sandbox' lacks permission for dataset '${what}'`);
}
