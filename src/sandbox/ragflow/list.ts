import type { Release } from "../flavours/release.ts";
import { rawMembers } from "../json-text.ts";
import { collationKey } from "../store/collation.ts";
import { integerColumn, textColumn } from "../store/database.ts";
import type { StoredDataset } from "../store/datasets.ts";
import type { Store } from "../store/index.ts";
import { findPage, type RowFilter } from "../store/pages.ts";
import { documentText } from "./document.ts";
import { noDataset, success, worded } from "./failure.ts";
import { filteredIds, metadataFiltersOf, nameAndStateFilter } from "./list-filters.ts";
import { filterOf, idsOf, isDescending, orderOf, refusedList, timeOf, windowOf } from "./list-query.ts";
import { countDocuments } from "./metadata-views.ts";
import type { Call, Route } from "./request.ts";

/** GET /datasets/<dataset_id>/documents: `list_docs` in api/apps/sdk/doc.py, then in api/apps/restful_apis. */
export const listDocuments: Route = async (call, service) => {
	const { store, settings, searchesFail } = service;
	const { query, datasetId, sentDatasetId, release } = call;
	store.commits.flush();
	if (release.servesWeb && query.get("type") === "filter") return countDocuments(call, service);
	if (release.list.orderBy === "three-first") orderOf(query, release);
	const dataset = store.datasets.find(datasetId);
	if (dataset === undefined) throw noDataset(sentDatasetId, release);
	const [id, name] = [filterOf(query, "id"), filterOf(query, "name")];
	if (!release.list.checksPageFirst) checkExists(store, dataset, call);
	const window = windowOf(query, release, dataset.documentCount);
	const order = { by: orderOf(query, release), descending: isDescending(query, release) };
	const byNameAndState = nameAndStateFilter(query, release, (document) => store.parsingStates.of(document).run);
	const filters = metadataFiltersOf(query, release);
	if (release.list.checksPageFirst) checkExists(store, dataset, call);
	const isUnknown = searchesFail && release.metadataIn === "engine";
	const wanted = idsOf(query, release);
	// The ids or the id that are asked for take the place of those that the filters have found.
	const replaces = id !== undefined && ["any-number", "at-most-100"].includes(release.list.ids);
	const ids = wanted ?? (replaces ? undefined : await filteredIds(store, dataset.seq, filters, { release, isUnknown }));
	const fits: RowFilter = (row) =>
		(ids === undefined || ids.has(textColumn(row, "id"))) &&
		(!filters.onlyEmpty || isUnknown || rawMembers(textColumn(row, "meta_fields")).size === 0);
	const matches: RowFilter | undefined =
		byNameAndState === undefined && ids === undefined && !filters.onlyEmpty
			? undefined
			: (row) => byNameAndState?.(row) !== false && fits(row);
	const parserMembers = new Set<Release["parserMember"]>(["chunk_method", release.parserMember]);
	const exact = { id: id === undefined ? undefined : collationKey(id), name, byCollation: true };
	const search = { exact, ids: wanted, order, matches, window, ties: settings.ties ?? "unstable" };
	const { total, rows } = await findPage(store, dataset, search);
	const working: { readonly id: string; readonly name: string; readonly size: number }[] = [];
	const documents = rows.filter(timeFilter(query, release)).map((row) => {
		const id = textColumn(row, "id");
		const [parser, state] = [store.parserSettings.of(id), store.parsingStates.of(id)];
		if (state.run === "RUNNING") working.push({ id, name: textColumn(row, "name"), size: integerColumn(row, "size") });
		const metadata = isUnknown ? "{}" : textColumn(row, "meta_fields");
		return documentText(row, datasetId, { metadata, parser, state, parserMembers: [...parserMembers] });
	});
	// After they were shown, so that what a filter by `run` found is in that state.
	if (working.length > 0)
		await store.commits.write(() => working.forEach((each) => store.parsingStates.advance(each.id, each)));
	return success(`{"docs":[${documents.join(",")}],"total":${total}}`, release.list.message);
};

/** Throws for an id or a name that no document has. The list is not empty then, but an error. */
function checkExists(store: Store, { seq }: StoredDataset, { query, datasetId, release }: Call): void {
	const [id, name] = [filterOf(query, "id"), filterOf(query, "name")];
	if (id !== undefined && store.documents.datasetOf(collationKey(id)) !== datasetId) throw noDocument(id, release);
	if (name !== undefined && store.documents.equalNames(seq, name).length === 0) throw noDocument(name, release);
}

/** The releases filter by time after the page is made: so pages become shorter, and the total stays as it was. */
function timeFilter(query: URLSearchParams, { list }: Release): RowFilter {
	if (!list.filters) return () => true;
	const [from, to] = [timeOf(query, "create_time_from", list), timeOf(query, "create_time_to", list)];
	return (row) => {
		const time = integerColumn(row, "create_time");
		return (from === 0 || time >= from) && (to === 0 || time <= to);
	};
}

function noDocument(idOrName: string, release: Release): Error {
	return refusedList(worded(`You don't own the document ${idOrName}.`, release), release.list);
}
