import { valuesByKey } from "../condition/filter.ts";
import { rawItems, rawMembers } from "../json-text.ts";
import { pythonStrOfJson } from "../python.ts";
import { collationKey } from "../store/collation.ts";
import { textColumn } from "../store/database.ts";
import type { Store } from "../store/index.ts";
import { scan } from "../store/pages.ts";
import { Code, Failure, noDataset, success } from "./failure.ts";
import { nameAndStateFilter, runStates } from "./list-filters.ts";
import { suffixOf } from "./names.ts";
import { argumentError, type Route } from "./request.ts";

/** Ids that a request can name at most: `validate_rest_api_ids` in api/utils/pagination_utils.py. */
const mostIds = 100;

function idsOf(query: URLSearchParams, name: string, isBounded: boolean): readonly string[] {
	const text = query.get(name) ?? "";
	const ids = text === "" ? [] : text.split(",");
	if (isBounded && ids.length > mostIds) throw argumentError(`${name} must contain at most ${mostIds} IDs`);
	return ids;
}

/** GET /datasets/<dataset_id>/metadata/summary: `get_metadata_summary` in api/db/services/doc_metadata_service.py. */
export const metadataSummary: Route = async ({ query, datasetId, sentDatasetId, release }, { store }) => {
	const dataset = store.datasets.find(datasetId);
	if (dataset === undefined) throw noDataset(sentDatasetId, release);
	const ids = new Set(idsOf(query, "doc_ids", release.list.ids === "at-most-100").map(collationKey));
	const summary = await countValues(store, dataset.seq, (row) => ids.size === 0 || ids.has(textColumn(row, "id")));
	const members = [...summary].map(([key, { types, values }]): [string, string] => {
		const [type = "string"] = mostFirst(types).map(([name]) => name);
		return [
			key,
			objectText([
				["type", JSON.stringify(type)],
				["values", JSON.stringify(mostFirst(values))],
			]),
		];
	});
	return success(`{"summary":${objectText(members)}}`);
};

/** GET /datasets/metadata/flattened: `get_flatted_meta_by_kbs` there, of one dataset or several. */
export const flattenedMetadata: Route = async ({ query, release }, { store }) => {
	const sent = (query.get("dataset_ids") ?? "").split(",").filter((id) => id !== "");
	if (sent.length === 0) throw new Failure(Code.data, "Lack of dataset_ids in query parameters");
	if (release.list.ids === "at-most-100" && sent.length > mostIds)
		throw argumentError(`dataset_ids must contain at most ${mostIds} IDs`);
	const found = new Map<string, Map<string, string[]>>();
	for (const id of sent) {
		const dataset = store.datasets.find(collationKey(id));
		if (dataset === undefined) throw new Failure(Code.data, `No authorization for dataset '${id}'`);
		for (const [key, values] of await valuesByKey(store, dataset.seq)) {
			const texts = found.get(key) ?? new Map<string, string[]>();
			found.set(key, texts);
			for (const [text, documents] of values) texts.set(text, [...(texts.get(text) ?? []), ...documents]);
		}
	}
	const lists = ([text, ids]: [string, string[]]): [string, string] => [text, JSON.stringify(ids)];
	return success(objectText([...found].map(([key, texts]) => [key, objectText([...texts].map(lists))])));
};

/** GET /datasets/<dataset_id>/metadata/config: no dataset of the sandbox has any. */
export const metadataConfig: Route = async ({ datasetId, sentDatasetId }, { store }) => {
	if (store.datasets.find(datasetId) === undefined)
		throw new Failure(Code.data, `User 'owner' lacks permission for dataset '${sentDatasetId}'`);
	return success('{"built_in_metadata":[],"metadata":[]}');
};

/** GET /datasets/<dataset_id>/documents?type=filter: `get_filter_by_kb_id` in api/db/services/document_service.py. */
export const countDocuments: Route = async ({ query, datasetId, sentDatasetId, release }, { store }) => {
	const dataset = store.datasets.find(datasetId);
	if (dataset === undefined) throw noDataset(sentDatasetId, release);
	const runOf = (document: string): string => store.parsingStates.of(document).run;
	const matches = nameAndStateFilter(query, release, runOf) ?? (() => true);
	const [suffixes, runs] = [new Map<string, number>(), new Map<string, number>()];
	let [total, empty] = [0, 0];
	const counted = await countValues(store, dataset.seq, matches, (row, texts) => {
		total += 1;
		if (texts.length === 0) empty += 1;
		count(suffixes, suffixOf(textColumn(row, "name")));
		count(runs, runStates.get(runOf(textColumn(row, "id"))) ?? "");
	});
	const metadata = [...counted].map(([key, { values }]): [string, string] => [key, countsText(values)]);
	const filter = objectText([
		["metadata", objectText([...metadata, ["empty_metadata", `{"true":${empty}}`]])],
		["run_status", countsText(runs)],
		["suffix", countsText(suffixes)],
	]);
	return success(`{"filter":${filter},"total":${total}}`, release.list.message);
};

type Counted = { readonly types: Map<string, number>; readonly values: Map<string, number> };

/** Counts the values of every key as text, and their types, in the documents that match. */
async function countValues(
	store: Store,
	dataset: number,
	matches: (row: unknown) => boolean,
	onDocument: (row: unknown, texts: readonly string[]) => void = () => undefined,
): Promise<ReadonlyMap<string, Counted>> {
	const keys = new Map<string, Counted>();
	for await (const rows of scan(store, dataset)) {
		for (const row of rows.filter(matches)) {
			const all: string[] = [];
			for (const [key, raw] of rawMembers(textColumn(row, "meta_fields"))) {
				const texts = (raw.startsWith("[") ? rawItems(raw) : [raw])
					.filter((item) => item !== "null")
					.map((item) => pythonStrOfJson(item));
				if (texts.length === 0) continue;
				all.push(...texts);
				const counted = keys.get(key) ?? { types: new Map(), values: new Map() };
				keys.set(key, counted);
				count(counted.types, typeOf(raw));
				for (const text of texts) count(counted.values, text);
			}
			onDocument(row, all);
		}
	}
	return keys;
}

function typeOf(raw: string): string {
	if (raw.startsWith("[")) return "list";
	if (/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"$/.test(raw)) return "time";
	return /^[-\d]/.test(raw) ? "number" : "string";
}

function count(counts: Map<string, number>, what: string): void {
	counts.set(what, (counts.get(what) ?? 0) + 1);
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
	return [...counts].sort(([, one], [, other]) => other - one);
}

function countsText(counts: ReadonlyMap<string, number>): string {
	return objectText([...counts].map(([text, number]) => [text, String(number)]));
}

/** An object whose members are sorted, as the server's JSON is. */
function objectText(members: readonly (readonly [string, string])[]): string {
	const sorted = [...members].sort(([one], [other]) => (one < other ? -1 : 1));
	return `{${sorted.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}
