import { Refusal } from "../envelope.ts";
import type { Release } from "../flavours/release.ts";
import { findDocuments, type Matches } from "../find.ts";
import { matcherOf } from "../routes/list.ts";
import type { Order, SortKey } from "../store/pages.ts";
import { textColumn } from "../store/rows.ts";
import type { Route } from "./call.ts";
import { documentText } from "./document.ts";
import { Code, Failure, noDataset, success, worded } from "./failure.ts";
import { filterOf, isDescending, orderOf, windowOf } from "./query.ts";

const sortKeys: ReadonlyMap<string, SortKey> = new Map([
	["create_time", "create_time"],
	["update_time", "update_time"],
	["name", "name"],
	["size", "size"],
]);

/** GET /datasets/<dataset_id>/documents */
export const listDocuments: Route = async ({ query, datasetId, release }, { store, settings }) => {
	store.commits.flush();
	const dataset = store.datasets.find(datasetId);
	if (dataset === undefined) throw noDataset(datasetId);
	const exact = { id: filterOf(query, "id"), name: filterOf(query, "name") };
	// An id or a name that nothing has is no empty list.
	if (exact.id !== undefined && store.documents.datasetOf(exact.id) !== datasetId) throw noDocument(exact.id, release);
	if (exact.name !== undefined && !store.documents.hasName(dataset.seq, exact.name))
		throw noDocument(exact.name, release);
	const order: Order = { by: orderOf(query, sortKeys), descending: isDescending(query, release) };
	const window = windowOf(query, release.largestPage);
	const condition = release.metadataCondition ? filterOf(query, "metadata_condition") : undefined;
	const matches = matching(filterOf(query, "keywords"), condition);
	const search = { exact, order, matches, window, ties: settings.ties ?? "unstable" };
	const { total, rows } = await findDocuments(store, dataset, search);
	const documents = rows.map((row) =>
		documentText(row, datasetId, { metadata: true, parsing: store.parsing.of(textColumn(row, "id")) }),
	);
	return success(`{"docs":[${documents.join(",")}],"total":${total}}`, release.listMessage);
};

function matching(keywords: string | undefined, condition: string | undefined): Matches | undefined {
	try {
		return matcherOf(keywords, condition);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		throw new Failure(Code.data, error.message);
	}
}

function noDocument(what: string, release: Release): Failure {
	return new Failure(Code.data, worded(`You don't own the document ${what}.`, release));
}
