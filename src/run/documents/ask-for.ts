import type { Api, Document, Page } from "../../rest/types.ts";
import type { Request } from "../types.ts";
import { refuseOtherCase } from "./other-case.ts";
import { SMALL_PAGE } from "./page-size.ts";
import { answerOf } from "./refusal.ts";

/**
 * The first page of the documents of one id or one name: more than that only where the service ignores what it is asked.
 *
 * RAGFlow does not answer with an empty list, but that it has no such document; here both are an empty page. Undefined
 * where the answer is a bare 404, which may be about anything: only the whole list can tell then.
 *
 * @throws RestError of code `OTHER_CASE` where the service answers with the document of that id in another letter case
 */
export async function askFor(
	api: Api,
	request: Request,
	datasetId: string,
	filter: { readonly id: string } | { readonly name: string },
): Promise<Page<Document> | undefined> {
	// So few are refused by no service, and of one id there is no more than one.
	const first = { page: 1, pageSize: SMALL_PAGE };
	try {
		const page = await request(() => api.listDocuments(datasetId, { ...first, ...filter }));
		if ("id" in filter) refuseOtherCase(datasetId, filter.id, page.items);
		return page;
	} catch (error) {
		const answer = answerOf(error);
		if (answer?.code !== "NOT_FOUND") throw error;
		return answer.status === 404 ? undefined : { items: [], total: 0 };
	}
}

/** The documents that have a name by the service's own comparison; undefined where it ignores what it is asked. */
export async function askForName(
	api: Api,
	request: Request,
	datasetId: string,
	name: string,
): Promise<readonly Document[] | undefined> {
	const { nameKey } = api.dialect.flavour;
	const key = nameKey(name);
	const page = await askFor(api, request, datasetId, { name });
	return page?.items.every((document) => nameKey(document.name) === key) === true ? page.items : undefined;
}
