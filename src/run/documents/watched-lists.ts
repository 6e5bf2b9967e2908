import type { Api } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import type { ListsInFlight } from "../rate/lists-in-flight.ts";

/** The same API, whose lists are counted while they are read. So no command has to report its own progress. */
export function watchingLists(api: Api, lists: ListsInFlight): Api {
	return {
		...api,
		as: (dialect) => watchingLists(api.as(dialect), lists),
		listDatasets: (query, signal) => lists.page("datasets", query.page, () => api.listDatasets(query, signal)),
		listDocuments: (datasetId, query, signal) => {
			// A question about some documents is no list.
			if ((query.id ?? query.ids ?? query.name) !== undefined) return api.listDocuments(datasetId, query, signal);
			const what = `documents of ${show(datasetId)}`;
			return lists.page(what, query.page, () => api.listDocuments(datasetId, query, signal));
		},
	};
}
