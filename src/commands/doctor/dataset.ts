import { Exit } from "../../errors.ts";
import { isNotJson } from "../../json/parse-json.ts";
import type { Check } from "../../report/checks.ts";
import type { Api, Dataset } from "../../rest/types.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { entriesOf, walk } from "../../run/documents/pages.ts";
import { WARN } from "../../run/documents/searches.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { datasetId } from "../../workflows/dataset.ts";
import { attempt, type Chosen, type Connected, failed, ok, skipped, type Step, warning } from "./checks.ts";

export const FIRST_ENTRY = { page: 1, pageSize: 1 };

/** With the first of the list of datasets. */
type WithList = Connected & { readonly first: Dataset | undefined };

/** Most documents that are read of a dataset that was named: ten pages. One page of another one is enough. */
const MAX_DOCUMENTS = 1_000;
const MAX_DOCUMENTS_UNNAMED = 100;

/** Most documents that the text names. */
const MAX_NAMED = 5;

/** Checks of the dataset that is named, or of the first one. */
export const DATASET: readonly Step<WithList>[] = [
	{
		name: "dataset",
		next: "ragtag datasets list",
		check: async (doctor) => {
			const { flags, settings, session, app, first } = doctor;
			const given = flags.dataset === undefined ? settings.dataset : { value: flags.dataset, origin: "--dataset" };
			if (given === undefined) return firstDataset(doctor, first);
			const found = await attempt(async () => {
				const id = (await datasetId({ flags, settings, session, app })) ?? given.value;
				const { total } = await session.request(() => spoken(doctor).listDocuments(id, FIRST_ENTRY));
				return { id, origin: given.origin, documents: total };
			});
			if ("error" in found) {
				const check = failed("dataset", found.error, "ragtag datasets list");
				// A name that no dataset has is a fact about the service, as an unknown id is.
				return check.exit === Exit.usage ? { ...check, exit: Exit.failedRows } : check;
			}
			doctor.dataset = found.value;
			const { id, origin, documents } = found.value;
			return ok("dataset", `${show(id)} (${origin}) can be listed${countText(documents)}`);
		},
	},
	{
		name: "right",
		check: async (doctor) => {
			const { session, dataset, recognition } = doctor;
			if (dataset === undefined) return skipped("right", "not checked, because there is no dataset");
			if (recognition === undefined) {
				return skipped("right", "not checked, because the kind of the service is not known");
			}
			const right = await session.request(() => spoken(doctor).probeRight(dataset.id));
			return rightCheck(right, dataset.id, recognition.flavour.onlyOwnerUpdates);
		},
	},
	{
		name: "values",
		check: async (doctor) =>
			doctor.dataset && doctor.recognition && (await valuesCheck(doctor, spoken(doctor), doctor.dataset)),
	},
];

/** The service in the dialect that was detected. */
function spoken({ session: { api }, recognition }: Connected): Api {
	return recognition === undefined ? api : api.as({ flavour: recognition.flavour, form: recognition.form });
}

/** The dataset where none was named. */
export function firstDataset(doctor: Pick<Connected, "dataset">, first: Dataset | undefined): Check {
	if (first === undefined) {
		const hint = "Create one with: ragtag datasets create NAME";
		return skipped("dataset", "there is no dataset yet", hint, "ragtag datasets create NAME");
	}
	const { id, name, documentCount: documents } = first;
	doctor.dataset = { id, origin: undefined, documents };
	const text = `no dataset was given; the first one is ${show(name)}, ${show(id)}${countText(documents)}`;
	return ok("dataset", text);
}

export function rightCheck(right: "may" | "may_not" | "unknown", id: string, ownerAlone: boolean): Check {
	const name = "right";
	const where = `in dataset ${show(id)}`;
	switch (right) {
		case "may":
			return ok(name, `this key may update metadata ${where}; the check changed nothing`);
		case "unknown": {
			const hint = "The first row of a run shows it.";
			const text = `whether this key may update metadata ${where} can't be checked without a write`;
			return warning(name, text, hint);
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

/** Whether documents have `NaN` or an infinity, which no request can write back. Reads only as much as its text says. */
async function valuesCheck({ session }: Connected, spoken: Api, dataset: Chosen): Promise<Check> {
	const name = "values";
	const request = session.service.searches.believing(session.request, WARN);
	const most = dataset.origin === undefined ? MAX_DOCUMENTS_UNNAMED : MAX_DOCUMENTS;
	const names: string[] = [];
	let [read, bad] = [0, 0];
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
	const isAll = dataset.documents !== undefined && read >= dataset.documents;
	const checked = isAll ? `all ${documentsText(read)}` : `the first ${documentsText(read)}`;
	if (read === 0) return skipped(name, "the dataset lists no document to check");
	if (bad === 0) return ok(name, `${checked} of the dataset can be read and written back`);
	const more = bad > names.length ? `; and ${numberText(bad - names.length)} more` : "";
	return warning(
		name,
		`of ${checked} of the dataset ${numberText(bad)} ${bad === 1 ? "has" : "have"} NaN or an infinity, which is no JSON (${names.join("; ")}${more})`,
		"A merge into such a document fails, and its row can't be undone. Set or delete the key, or replace the document's metadata.",
	);
}
