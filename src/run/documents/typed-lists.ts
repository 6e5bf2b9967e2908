import type { TypedKeys } from "../../json/typed-keys.ts";
import type { Api } from "../../rest/types.ts";

/** The same API. Where keys have types, the documents that it lists teach them. */
export function learningTypes(api: Api, keys: TypedKeys): Api {
	const { hasSearchEngine } = api.dialect.flavour;
	return {
		...api,
		as: (dialect) => learningTypes(api.as(dialect), keys),
		...(hasSearchEngine && {
			listDocuments: async (datasetId, query, signal) => {
				const page = await api.listDocuments(datasetId, query, signal);
				for (const { metadata } of page.items) if (metadata !== undefined) keys.addDocument(metadata);
				return page;
			},
		}),
	};
}
