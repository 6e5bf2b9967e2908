import { setImmediate as nextTurn } from "node:timers/promises";
import { parseCondition } from "../condition.ts";
import { Refusal } from "../envelope.ts";
import { isObject } from "../object.ts";
import { filterOf, flagOf, windowOf } from "../query.ts";
import { documentText } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import type { Exact, Order, Rows } from "../store/pages.ts";
import { integerColumn, textColumn } from "../store/rows.ts";
import { findDataset, type Route } from "./call.ts";

/** Documents looked at before other requests get their turn: some ten milliseconds of work. */
const scanBatch = 2000;

/** GET /datasets/<dataset_id>/documents */
export const listDocuments: Route = async ({ query, datasetId }, { store, settings }) => {
	const window = windowOf(query, settings);
	const filter: Exact = { id: filterOf(query, "id"), name: filterOf(query, "name") };
	const order: Order = { by: orderOf(query), descending: flagOf(query, "desc") };
	const matches = matcherOf(query);
	store.commits.flush();
	const { seq, documentCount } = findDataset(store, datasetId);
	let found: Rows;
	if (matches === undefined) found = store.pages.read(seq, documentCount, filter, order, window);
	else {
		const seqs = await scan(store, seq, filter, order, matches);
		found = { total: seqs.length, rows: store.pages.pick(seqs.slice(window.offset, window.offset + window.limit)) };
	}
	const documents = found.rows.map((row) => documentText(row, datasetId));
	return `{"total":${found.total},"docs":[${documents.join(",")}]}`;
};

type Matches = (row: unknown) => boolean;

/** What only a look at each document can tell: `keywords` and `metadata_condition`. */
function matcherOf(query: URLSearchParams): Matches | undefined {
	const keywords = filterOf(query, "keywords")?.toLowerCase();
	const text = filterOf(query, "metadata_condition");
	if (keywords === undefined && text === undefined) return undefined;
	const condition = text === undefined ? undefined : parseCondition(text);
	return (row) => {
		if (keywords !== undefined && !textColumn(row, "name").toLowerCase().includes(keywords)) return false;
		if (condition === undefined) return true;
		const metadata: unknown = JSON.parse(textColumn(row, "meta_fields"));
		return condition(isObject(metadata) ? metadata : {});
	};
}

/** The `seq` of all documents that match, in the order asked for. */
async function scan(store: Store, dataset: number, exact: Exact, order: Order, matches: Matches): Promise<number[]> {
	const found: { seq: number; time: number }[] = [];
	let rows = store.pages.after(dataset, 0, scanBatch);
	while (rows.length > 0) {
		for (const row of rows) {
			if (exact.id !== undefined && textColumn(row, "id") !== exact.id) continue;
			if (exact.name !== undefined && textColumn(row, "name") !== exact.name) continue;
			if (matches(row)) found.push({ seq: integerColumn(row, "seq"), time: integerColumn(row, "update_time") });
		}
		const last = integerColumn(rows.at(-1), "seq");
		await nextTurn();
		store.commits.flush();
		rows = store.pages.after(dataset, last, scanBatch);
	}
	if (order.by === "update_time") found.sort((left, right) => left.time - right.time || left.seq - right.seq);
	if (order.descending) found.reverse();
	return found.map(({ seq }) => seq);
}

function orderOf(query: URLSearchParams): Order["by"] {
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time")
		throw new Refusal(400, "orderby is neither create_time nor update_time");
	return by;
}
