import { parseCondition } from "../condition.ts";
import { Refusal } from "../envelope.ts";
import { findDocuments, type Matches } from "../find.ts";
import { isObject } from "../object.ts";
import { filterOf, flagOf, windowOf } from "../query.ts";
import { documentText } from "../store/documents.ts";
import type { Exact, Order } from "../store/pages.ts";
import { textColumn } from "../store/rows.ts";
import { findDataset, type Route } from "./call.ts";

/** GET /datasets/<dataset_id>/documents */
export const listDocuments: Route = async ({ query, datasetId }, { store, settings }) => {
	const window = windowOf(query, settings);
	const exact: Exact = { id: filterOf(query, "id"), name: filterOf(query, "name") };
	const order: Order = { by: orderOf(query), descending: flagOf(query, "desc") };
	const matches = matcherOf(filterOf(query, "keywords"), filterOf(query, "metadata_condition"));
	store.commits.flush();
	const search = { exact, order, matches, window, ties: settings.ties ?? "stable" };
	const found = await findDocuments(store, findDataset(store, datasetId), search);
	const documents = found.rows.map((row) => documentText(row, datasetId));
	return `{"total":${found.total},"docs":[${documents.join(",")}]}`;
};

/** What `keywords` and `metadata_condition` ask of a document; `undefined` where neither is given. */
export function matcherOf(keywords: string | undefined, condition: string | undefined): Matches | undefined {
	if (keywords === undefined && condition === undefined) return undefined;
	const wanted = keywords?.toLowerCase();
	const holds = condition === undefined ? undefined : parseCondition(condition);
	return (row) => {
		if (wanted !== undefined && !textColumn(row, "name").toLowerCase().includes(wanted)) return false;
		if (holds === undefined) return true;
		const metadata: unknown = JSON.parse(textColumn(row, "meta_fields"));
		return holds(isObject(metadata) ? metadata : {});
	};
}

function orderOf(query: URLSearchParams): Order["by"] {
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time")
		throw new Refusal(400, "orderby is neither create_time nor update_time");
	return by;
}
