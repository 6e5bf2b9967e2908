import type { Api } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import type { ListsInFlight } from "../rate/current-work.ts";
import type { TypedKeys } from "../../json/typed-keys.ts";

/** The same API, whose lists are counted while they are read. So no command has to report its own progress. */
export function watchingLists(api: Api, lists: ListsInFlight): Api {
	return {
		...api,
		as: (dialect) => watchingLists(api.as(dialect), lists),
		listDatasets: (query) => lists.page("datasets", query.page, () => api.listDatasets(query)),
		listDocuments: (datasetId, query) => {
			// A question about some documents is no list.
			if ((query.id ?? query.ids ?? query.name) !== undefined) return api.listDocuments(datasetId, query);
			const what = `documents of ${show(datasetId)}`;
			return lists.page(what, query.page, () => api.listDocuments(datasetId, query));
		},
	};
}

/** The same API. Where keys have types, the documents that it lists teach them. */
export function learningTypes(api: Api, keys: TypedKeys): Api {
	const { hasSearchEngine } = api.dialect.flavour;
	return {
		...api,
		as: (dialect) => learningTypes(api.as(dialect), keys),
		...(hasSearchEngine && {
			listDocuments: async (datasetId, query) => {
				const page = await api.listDocuments(datasetId, query);
				for (const { metadata } of page.items) if (metadata !== undefined) keys.addDocument(metadata);
				return page;
			},
		}),
	};
}
