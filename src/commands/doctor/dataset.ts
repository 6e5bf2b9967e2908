import { Exit } from "../../errors.ts";
import type { Check } from "../../report/checks.ts";
import type { Api, Dataset } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { attempt, type Attempted, failed, skipped } from "./check-results.ts";
import type { Session } from "../../app.ts";
import { isNotJson } from "../../json/not-json.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { entriesOf, walk } from "../../run/documents/pages.ts";

/** The dataset in which rights and values are checked. */
export type Chosen = {
	readonly id: string;
	/** the flag or setting that named it; undefined for the first of the list */
	readonly origin: string | undefined;
	readonly documents: number | undefined;
};

/** @param listed the number of documents that the dataset claims, where it was named */
export function datasetCheck(
	named: { readonly value: string; readonly origin: string } | undefined,
	first: Dataset | undefined,
	listed: Attempted<number | undefined> | undefined,
): { readonly check: Check; readonly chosen: Chosen | undefined } {
	const name = "dataset";
	if (named !== undefined && listed !== undefined) {
		if ("error" in listed) {
			const check = failed(name, listed.error, "ragtag datasets list");
			// A name that no dataset has is a fact about the service, as an unknown id is.
			return { check: { ...check, exit: check.exit === Exit.usage ? Exit.failedRows : check.exit }, chosen: undefined };
		}
		const chosen = { id: named.value, origin: named.origin, documents: listed.value };
		const text = `${show(chosen.id)} (${chosen.origin}) can be listed${countText(chosen.documents)}`;
		return { check: { name, status: "ok", text }, chosen };
	}
	if (first === undefined) {
		const hint = "Create one with: ragtag datasets create NAME";
		return { check: skipped(name, "there is no dataset yet", hint, "ragtag datasets create NAME"), chosen: undefined };
	}
	const chosen = { id: first.id, origin: undefined, documents: first.documentCount };
	const text = `no dataset was given; the first one is ${show(first.name)}, ${show(first.id)}${countText(chosen.documents)}`;
	return { check: { name, status: "ok", text }, chosen };
}

export function rightCheck(right: "may" | "may_not" | "unknown", id: string, ownerAlone: boolean): Check {
	const name = "right";
	const where = `in dataset ${show(id)}`;
	switch (right) {
		case "may":
			return { name, status: "ok", text: `this key may update metadata ${where}; the check changed nothing` };
		case "unknown": {
			const hint = "The first row of a run shows it.";
			const text = `whether this key may update metadata ${where} can't be checked without a write`;
			return { name, status: "warning", text, hint };
		}
		case "may_not":
			return {
				name,
				status: "failed",
				text: ownerAlone
					? `this key can list, upload and remove ${where}, but may not update: only the owner's key may`
					: `this key can list ${where}, but may not update`,
				hint: "Use the key of the dataset's owner.",
				exit: Exit.failedRows,
				next: "ragtag doctor --api-key-file PATH",
			};
	}
}

function countText(documents: number | undefined): string {
	return documents === undefined ? "" : `, and has ${documentsText(documents)}`;
}

/** Most documents that are read of a dataset that was named: ten pages. One page of another one is enough. */
const MAX_DOCUMENTS = 1_000;
const MAX_DOCUMENTS_UNNAMED = 100;

/** Most documents that the text names. */
const MAX_NAMED = 5;

/** Whether documents have `NaN` or an infinity, which no request can write back. Reads only as much as its text says. */
export async function valuesCheck(spoken: Api, request: Session["request"], dataset: Chosen): Promise<Check> {
	const name = "values";
	const most = dataset.origin === undefined ? MAX_DOCUMENTS_UNNAMED : MAX_DOCUMENTS;
	const names: string[] = [];
	let [read, bad] = [0, 0];
	const result = await attempt(async () => {
		const { asked, first } = await firstDocuments(spoken, request, dataset.id);
		const [order] = spoken.dialect.flavour.list.orders;
		const page = (number: number) =>
			request(() => spoken.listDocuments(dataset.id, { page: number, pageSize: asked, order }));
		for await (const { id, inexact } of entriesOf(walk(page, { asked, first, mayStop: true }))) {
			read += 1;
			const keys = [...(inexact ?? [])].filter(([, text]) => isNotJson(text)).map(([key]) => show(key));
			if (keys.length > 0) bad += 1;
			if (keys.length > 0 && names.length < MAX_NAMED) names.push(`document ${show(id)}, key ${keys.join(", ")}`);
			if (read >= most) break;
		}
	});
	if ("error" in result) return failed(name, result.error);
	const isAll = dataset.documents !== undefined && read >= dataset.documents;
	const checked = isAll ? `all ${documentsText(read)}` : `the first ${documentsText(read)}`;
	if (read === 0) return { name, status: "skipped", text: "the dataset lists no document to check" };
	if (bad === 0) return { name, status: "ok", text: `${checked} of the dataset can be read and written back` };
	const more = bad > names.length ? `; and ${numberText(bad - names.length)} more` : "";
	return {
		name,
		status: "warning",
		text: `of ${checked} of the dataset ${numberText(bad)} ${bad === 1 ? "has" : "have"} NaN or an infinity, which is no JSON (${names.join("; ")}${more})`,
		hint: "A merge into such a document fails, and its row can't be undone. Set or delete the key, or replace the document's metadata.",
	};
}
