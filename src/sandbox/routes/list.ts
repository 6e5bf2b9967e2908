import { parseCondition } from "../condition/documented.ts";
import { meetingIds } from "../condition/find.ts";
import { documentedRule } from "../condition/rule.ts";
import { Refusal } from "../envelope.ts";
import { findDocuments } from "../find.ts";
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
	const keywords = filterOf(query, "keywords")?.toLowerCase();
	const condition = filterOf(query, "metadata_condition");
	const asked = condition === undefined ? undefined : parseCondition(condition);
	store.commits.flush();
	const dataset = findDataset(store, datasetId);
	// An object without conditions asks for nothing, and finds everything.
	const meeting = asked?.conditions.length ? await meetingIds(store, dataset.seq, asked, documentedRule) : undefined;
	const matches = (row: unknown): boolean =>
		(keywords === undefined || textColumn(row, "name").toLowerCase().includes(keywords)) &&
		(meeting === undefined || meeting.has(textColumn(row, "id")));
	const filtered = keywords !== undefined || meeting !== undefined;
	const search = { exact, order, matches: filtered ? matches : undefined, window, ties: settings.ties ?? "stable" };
	const found = await findDocuments(store, dataset, search);
	const documents = found.rows.map((row) => documentText(row, datasetId));
	return `{"total":${found.total},"docs":[${documents.join(",")}]}`;
};

function orderOf(query: URLSearchParams): Order["by"] {
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time")
		throw new Refusal(400, "orderby is neither create_time nor update_time");
	return by;
}
