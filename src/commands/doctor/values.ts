import type { Session } from "../../app.ts";
import { isNotJson } from "../../json/parse-json.ts";
import type { Api } from "../../rest/types.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { entriesOf, walk } from "../../run/documents/pages.ts";
import { WARN } from "../../run/documents/searches.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { type Chosen, type Found, ok, skipped, warning } from "./checks.ts";

/** Most documents that are read of a dataset that was named: ten pages. One page of another one is enough. */
const MAX_DOCUMENTS = 1_000;
const MAX_DOCUMENTS_UNNAMED = 100;

/** Most documents that the text names. */
const MAX_NAMED = 5;

/** Whether documents have `NaN` or an infinity, which no request can write back. Reads only as much as its text says. */
export async function readValues(session: Session, api: Api, dataset: Chosen): Promise<Found> {
	const request = session.service.searches.believing(session.request, WARN);
	const most = dataset.origin === undefined ? MAX_DOCUMENTS_UNNAMED : MAX_DOCUMENTS;
	const names: string[] = [];
	let [read, bad] = [0, 0];
	const { asked, first } = await firstDocuments(api, request, dataset.id);
	const [order] = api.dialect.flavour.list.orders;
	const page = (number: number) =>
		request(() => api.listDocuments(dataset.id, { page: number, pageSize: asked, order }));
	for await (const { id, inexact } of entriesOf(walk(page, { asked, first }))) {
		read += 1;
		const keys = [...(inexact ?? [])].filter(([, text]) => isNotJson(text)).map(([key]) => show(key));
		if (keys.length > 0) bad += 1;
		if (keys.length > 0 && names.length < MAX_NAMED) names.push(`document ${show(id)}, key ${keys.join(", ")}`);
		if (read >= most) break;
	}
	const isAll = dataset.documents !== undefined && read >= dataset.documents;
	const checked = isAll ? `all ${documentsText(read)}` : `the first ${documentsText(read)}`;
	if (read === 0) return skipped("the dataset lists no document to check");
	if (bad === 0) return ok(`${checked} of the dataset can be read and written back`);
	const more = bad > names.length ? `; and ${numberText(bad - names.length)} more` : "";
	return warning(
		`of ${checked} of the dataset ${numberText(bad)} ${bad === 1 ? "has" : "have"} NaN or an infinity, which is no JSON (${names.join("; ")}${more})`,
		"A merge into such a document fails, and its row can't be undone. Set or delete the key, or replace the document's metadata.",
	);
}
