import { matchingIds } from "../condition/filter.ts";
import type { Release } from "../flavours/release.ts";
import { collationKey, partKey } from "../store/collation.ts";
import { integerColumn, textColumn } from "../store/database.ts";
import type { StoredDataset } from "../store/datasets.ts";
import type { Store } from "../store/index.ts";
import { findPage, type RowFilter } from "../store/pages.ts";
import { documentText } from "./document.ts";
import { noDataset, success, worded } from "./failure.ts";
import { conditionOf, filterOf, idsOf, isDescending, orderOf, refusedList, timeOf, windowOf } from "./list-query.ts";
import { suffixOf } from "./names.ts";
import type { Call, Route } from "./request.ts";

/** GET /datasets/<dataset_id>/documents: `list_docs` in api/apps/sdk/doc.py, then in api/apps/restful_apis. */
export const listDocuments: Route = async (call, { store, settings, searchesFail }) => {
	const { query, datasetId, sentDatasetId, release } = call;
	store.commits.flush();
	if (release.list.orderBy === "three-first") orderOf(query, release);
	const dataset = store.datasets.find(datasetId);
	if (dataset === undefined) throw noDataset(sentDatasetId, release);
	const [id, name] = [filterOf(query, "id"), filterOf(query, "name")];
	if (!release.list.checksPageFirst) checkExists(store, dataset, call);
	const window = windowOf(query, release, dataset.documentCount);
	const order = { by: orderOf(query, release), descending: isDescending(query, release) };
	const byNameAndState = nameAndStateFilter(query, release);
	const condition = conditionOf(query, release);
	if (release.list.checksPageFirst) checkExists(store, dataset, call);
	const rules = release.list.condition;
	const isUnknown = searchesFail && release.metadataIn === "engine";
	const filter =
		condition === undefined || rules === undefined || rules === "checked" ? undefined : { condition, rules };
	const matching = async (): Promise<ReadonlySet<string> | undefined> => {
		if (filter === undefined) return undefined;
		return isUnknown ? new Set() : matchingIds(store, dataset.seq, filter.condition, filter.rules);
	};
	const wanted = idsOf(query, release);
	// The ids that are asked for take the place of those that the filter has found.
	const ids = wanted ?? (await matching());
	const matches: RowFilter | undefined =
		byNameAndState === undefined && ids === undefined
			? undefined
			: (row) => byNameAndState?.(row) !== false && (ids === undefined || ids.has(textColumn(row, "id")));
	const parserMembers = new Set<Release["parserMember"]>(["chunk_method", release.parserMember]);
	const exact = { id: id === undefined ? undefined : collationKey(id), name, byCollation: true };
	const search = { exact, ids: wanted, order, matches, window, ties: settings.ties ?? "unstable" };
	const { total, rows } = await findPage(store, dataset, search);
	const documents = rows.filter(timeFilter(query, release)).map((row) => {
		const parser = store.parserSettings.of(textColumn(row, "id"));
		const metadata = isUnknown ? "{}" : textColumn(row, "meta_fields");
		return documentText(row, datasetId, { metadata, parser, parserMembers: [...parserMembers] });
	});
	return success(`{"docs":[${documents.join(",")}],"total":${total}}`, release.list.message);
};

/** Throws for an id or a name that no document has. The list is not empty then, but an error. */
function checkExists(store: Store, { seq }: StoredDataset, { query, datasetId, release }: Call): void {
	const [id, name] = [filterOf(query, "id"), filterOf(query, "name")];
	if (id !== undefined && store.documents.datasetOf(collationKey(id)) !== datasetId) throw noDocument(id, release);
	if (name !== undefined && store.documents.equalNames(seq, name).length === 0) throw noDocument(name, release);
}

const runStates: ReadonlyMap<string, string> = new Map([
	["UNSTART", "0"],
	["RUNNING", "1"],
	["CANCEL", "2"],
	["DONE", "3"],
	["FAIL", "4"],
]);

/** The filter by `keywords`, `suffix` and `run`. In the sandbox no document was ever parsed: all are in state 0. */
function nameAndStateFilter(query: URLSearchParams, { list }: Release): RowFilter | undefined {
	const keywords = partKey(filterOf(query, "keywords") ?? "");
	const suffixes = list.filters ? query.getAll("suffix") : [];
	const runs = (list.filters ? query.getAll("run") : []).map((run) => runStates.get(run) ?? run);
	const known = [...runStates.values()];
	const unknown = runs.filter((run) => !known.includes(run));
	if (list.unknownRun === "refused" && unknown.length > 0)
		throw refusedList(`Invalid filter run status conditions: ${unknown.join(", ")}`, list);
	if (keywords === "" && suffixes.length === 0 && runs.length === 0) return undefined;
	const endings = new Set(suffixes.map(collationKey));
	const pattern = list.keywords === "pattern" ? likePattern(keywords) : undefined;
	const hasKeywords = (name: string): boolean => pattern?.test(name) ?? name.includes(keywords);
	return (row) => {
		const name = textColumn(row, "name");
		if (!hasKeywords(partKey(name))) return false;
		if (endings.size > 0 && !endings.has(collationKey(suffixOf(name)))) return false;
		return runs.length === 0 || runs.includes("0");
	};
}

/** SQL's LIKE: `%` stands for any letters, `_` for one, and a backslash takes that meaning from what follows. */
function likePattern(keywords: string): RegExp {
	const source = keywords.replace(/\\?[^]/gu, (found) => {
		if (found === "%") return "[^]*";
		return found === "_"
			? "[^]"
			: `\\u{${(found.codePointAt(found.length > 1 && found.startsWith("\\") ? 1 : 0) ?? 0).toString(16)}}`;
	});
	return new RegExp(source, "u");
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
