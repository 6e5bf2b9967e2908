import { meetingIds } from "../condition/find.ts";
import type { Release } from "../flavours/release.ts";
import { findDocuments, type Matches } from "../find.ts";
import { alike, letters } from "../store/alike.ts";
import type { StoredDataset } from "../store/datasets.ts";
import type { Store } from "../store/index.ts";
import { integerColumn, textColumn } from "../store/rows.ts";
import type { Call, Route } from "./call.ts";
import { conditionOf } from "./condition.ts";
import { documentText, suffixOf } from "./document.ts";
import { Code, Failure, noDataset, success, worded } from "./failure.ts";
import { filterOf, isDescending, orderOf, wholeOf, windowOf } from "./query.ts";

/** GET /datasets/<dataset_id>/documents: `list_docs` in api/apps/sdk/doc.py, then in api/apps/restful_apis. */
export const listDocuments: Route = async (call, { store, settings }) => {
	const { query, datasetId, datasetAsked, release } = call;
	store.commits.flush();
	const dataset = store.datasets.find(datasetId);
	if (dataset === undefined) throw noDataset(datasetAsked);
	const [id, name] = [filterOf(query, "id"), filterOf(query, "name")];
	// Later releases look at pages and filters first.
	if (!release.list.pagesFirst) checkThere(store, dataset, call);
	const window = windowOf(query, release, dataset.documentCount);
	const order = { by: orderOf(query, release), descending: isDescending(query, release) };
	const fits = filterBy(query, release);
	const asked = conditionOf(query, release);
	if (release.list.pagesFirst) checkThere(store, dataset, call);
	const condition = release.list.condition;
	const meeting =
		asked === undefined || condition === undefined ? undefined : await meetingIds(store, dataset.seq, asked, condition);
	const matches: Matches | undefined =
		fits === undefined && meeting === undefined
			? undefined
			: (row) => fits?.(row) !== false && (meeting === undefined || meeting.has(textColumn(row, "id")));
	const exact = { id: id === undefined ? undefined : alike(id), name, alike: true };
	const search = { exact, order, matches, window, ties: settings.ties ?? "unstable" };
	const { total, rows } = await findDocuments(store, dataset, search);
	const documents = rows.filter(timeFilter(query, release)).map((row) => {
		const parsing = store.parsing.of(textColumn(row, "id"));
		return documentText(row, datasetId, { metadata: true, parsing });
	});
	return success(`{"docs":[${documents.join(",")}],"total":${total}}`, release.list.message);
};

/** An id or a name that nothing has is no empty list. */
function checkThere(store: Store, { seq }: StoredDataset, { query, datasetId, release }: Call): void {
	const [id, name] = [filterOf(query, "id"), filterOf(query, "name")];
	if (id !== undefined && store.documents.datasetOf(alike(id)) !== datasetId) throw noDocument(id, release);
	if (name !== undefined && !store.documents.hasNameLike(seq, name)) throw noDocument(name, release);
}

const states: ReadonlyMap<string, string> = new Map([
	["UNSTART", "0"],
	["RUNNING", "1"],
	["CANCEL", "2"],
	["DONE", "3"],
	["FAIL", "4"],
]);

/** What `keywords`, `suffix` and `run` ask of a document. In the sandbox no document was ever taken apart. */
function filterBy(query: URLSearchParams, { list }: Release): Matches | undefined {
	const keywords = letters(filterOf(query, "keywords") ?? "");
	const suffixes = list.filters ? query.getAll("suffix") : [];
	const runs = (list.filters ? query.getAll("run") : []).map((run) => states.get(run) ?? run);
	const known = [...states.values()];
	const unknown = runs.filter((run) => !known.includes(run));
	if (list.unknownRun === "refused" && unknown.length > 0)
		throw new Failure(Code.data, `Invalid filter run status conditions: ${unknown.join(", ")}`);
	if (keywords === "" && suffixes.length === 0 && runs.length === 0) return undefined;
	const endings = new Set(suffixes.map(alike));
	return (row) => {
		const name = textColumn(row, "name");
		if (!letters(name).includes(keywords)) return false;
		if (endings.size > 0 && !endings.has(alike(suffixOf(name)))) return false;
		return runs.length === 0 || runs.includes("0");
	};
}

/** Looked at when the page was made: so pages become shorter, and the total counts what is not on them. */
function timeFilter(query: URLSearchParams, { list }: Release): Matches {
	if (!list.filters) return () => true;
	const [from, to] = [wholeOf(query, "create_time_from", 0), wholeOf(query, "create_time_to", 0)];
	return (row) => {
		const time = integerColumn(row, "create_time");
		return (from === 0 || time >= from) && (to === 0 || time <= to);
	};
}

function noDocument(what: string, release: Release): Failure {
	return new Failure(Code.data, worded(`You don't own the document ${what}.`, release));
}
