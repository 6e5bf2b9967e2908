import type { WireDataset } from "../../rest/wire.ts";
import { mediaType } from "../body.ts";
import type { Release } from "../flavours/release.ts";
import { isObject } from "../object.ts";
import { newId } from "../routes/call.ts";
import { datasetNameLimit } from "../settings.ts";
import { readJson } from "./body.ts";
import type { Route } from "./call.ts";
import { Code, Failure, success } from "./failure.ts";
import { freeName } from "./names.ts";
import { filterOf, isDescending, windowOf } from "./query.ts";

const known: ReadonlySet<string> = new Set(["page", "page_size", "orderby", "desc", "id", "name"]);

/** GET /datasets */
export const listDatasets: Route = async ({ query, release }, { store }) => {
	store.commits.flush();
	if (release.unknownParameter === "refused") {
		for (const [name, value] of query) if (!known.has(name)) throw extra(name, value);
	}
	const filter = { id: filterOf(query, "id"), name: filterOf(query, "name"), window: windowOf(query) };
	const filtered = filter.id !== undefined || filter.name !== undefined;
	if (filtered && store.datasets.list({ ...filter, window: { limit: 1, offset: 0 } }).length === 0)
		throw noDataset(filter.id ?? filter.name ?? "", release);
	const found = isDescending(query, release) ? store.datasets.newestFirst(filter) : store.datasets.list(filter);
	const data = success(JSON.stringify(found.map(wholeDataset)));
	if (!release.totalDatasets) return data;
	return `${data.slice(0, -1)},"total_datasets":${filtered ? found.length : store.datasets.count()}}`;
};

/** POST /datasets */
export const createDataset: Route = async ({ request, release }, { store }) => {
	if (release.argumentCode === Code.argument && mediaType(request) !== "application/json")
		throw new Failure(Code.argument, "Unsupported content type: Expected application/json");
	const { value } = await readJson(request, release);
	const name = nameOf(isObject(value) ? value["name"] : undefined, release);
	const id = newId();
	const stored = await store.commits.write(() => {
		const taken = (candidate: string): boolean =>
			store.datasets.list({ name: candidate, window: { limit: 1, offset: 0 } }).length > 0;
		if (release.takenName !== "numbered" && taken(name)) throw takenName(name, release.takenName);
		const free = freeName(name, taken);
		store.datasets.insert(id, free);
		return { id, name: free, document_count: 0 };
	});
	return success(JSON.stringify(wholeDataset(stored)));
};

/** api/apps/sdk/dataset.py of v0.18.0 and v0.21.1; from v0.23 on names are numbered by `create_with_name`. */
function takenName(name: string, how: "refused-102" | "refused-103"): Failure {
	if (how === "refused-102") return new Failure(Code.data, "Duplicated dataset name in creating dataset.");
	return new Failure(Code.operating, `Dataset name '${name}' already exists`);
}

function nameOf(value: unknown, { argumentCode }: Release): string {
	const name = typeof value === "string" ? value.trim() : "";
	const length = Array.from(name).length;
	if (name === "" || name.includes("\0") || length > datasetNameLimit) {
		const why = `String should have from 1 to ${datasetNameLimit} characters`;
		throw new Failure(argumentCode, `Field: <name> - Message: <${why}> - Value: <${JSON.stringify(value ?? null)}>`);
	}
	return name;
}

/** A dataset with members that a client has no use for, as it meets them. */
function wholeDataset({ id, name, document_count: documents }: WireDataset): object {
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

function noDataset(what: string, release: Release): Failure {
	const { absentDatasetCode: code } = release;
	if (release.unknownParameter === "ignored") return new Failure(code, `You don't own the dataset ${what}`);
	return new Failure(code, `User 'sandbox' lacks permission for dataset '${what}'`);
}

function extra(name: string, value: string): Failure {
	return new Failure(Code.argument, `Field: <${name}> - Message: <Extra inputs are not permitted> - Value: <${value}>`);
}
