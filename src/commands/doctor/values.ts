import type { Session } from "../../app.ts";
import { isNotJson } from "../../json/not-json.ts";
import { numberText, documentsText } from "../../text/words.ts";
import type { Check } from "../../report/checks.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { walk } from "../../run/documents/walk.ts";
import type { Api } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { attempt, failed } from "./attempt.ts";
import type { Chosen } from "./rights.ts";

/** Documents that are read of a dataset that was named: ten pages at most. Of another one a page is enough. */
const MOST = 1_000;
const MOST_UNASKED = 100;
/** Documents that the text names. */
const NAMED = 5;

/** Whether documents hold `NaN` or an infinity, which no request can write back. Reads lists, and no more than it says. */
export async function valuesCheck(spoken: Api, request: Session["request"], dataset: Chosen): Promise<Check> {
	const name = "values";
	const most = dataset.origin === undefined ? MOST_UNASKED : MOST;
	const names: string[] = [];
	let [seen, bad] = [0, 0];
	const read = await attempt(async () => {
		const { asked, first } = await firstDocuments(spoken, request, dataset.id);
		const [order] = spoken.dialect.flavour.list.orders;
		const page = (number: number) =>
			request(() => spoken.listDocuments(dataset.id, { page: number, pageSize: asked, order }));
		for await (const { id, inexact } of walk(page, { asked, first })) {
			seen += 1;
			const keys = [...(inexact ?? [])].filter(([, text]) => isNotJson(text)).map(([key]) => show(key));
			if (keys.length > 0) bad += 1;
			if (keys.length > 0 && names.length < NAMED) names.push(`document ${show(id)}, key ${keys.join(", ")}`);
			if (seen >= most) break;
		}
	});
	if ("error" in read) return failed(name, read.error);
	const isAll = dataset.documents !== undefined && seen >= dataset.documents;
	const looked = isAll ? `all ${documentsText(seen)}` : `the first ${documentsText(seen)}`;
	if (seen === 0) return { name, status: "skipped", text: "the dataset lists no document to look at" };
	if (bad === 0) return { name, status: "ok", text: `${looked} of the dataset can be read and written back` };
	const more = bad > names.length ? `; and ${numberText(bad - names.length)} more` : "";
	return {
		name,
		status: "warning",
		text: `of ${looked} of the dataset ${numberText(bad)} ${bad === 1 ? "has" : "have"} NaN or an infinity, which is no JSON (${names.join("; ")}${more})`,
		hint: "A merge of such a document fails its row, and its row can't be undone. Give or delete the key, or replace the document's metadata.",
	};
}
