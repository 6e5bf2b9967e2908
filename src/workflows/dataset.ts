import type { Session } from "../app.ts";
import { type CliError, usageError } from "../errors.ts";
import type { RunFlags } from "../flags/flags.ts";
import type { NamedDataset } from "../run/service/service-memory.ts";
import { allDatasets } from "../run/documents/pages.ts";
import { firstDocuments } from "../run/documents/list.ts";
import { restErrorOf } from "../run/retry/request.ts";
import { show } from "../text/show.ts";
import { closest } from "./values/spellings.ts";
import type { RestError } from "../rest/errors.ts";
import type { Run } from "./open-run.ts";

/** The parts that the search for a dataset uses. */
type DatasetSearch = Pick<Run<Pick<RunFlags, "dataset">>, "flags" | "settings" | "session" | "app">;

/** Ids that RAGFlow gives: `uuid1().hex` in api/utils/__init__.py. Such a value is not looked up. */
const ID = /^[0-9a-f]{32}$/i;

/** Whether a value of `-d` is an id for certain. */
export function isDatasetId(text: string): boolean {
	return ID.test(text);
}

/** Names that a message lists if none is similar to the typed one. */
const MOST_NAMED = 5;

/**
 * The id of the dataset that `-d` or the profile names, by its id or by its exact name; undefined where neither names one.
 * Only a value that does not look like an id costs requests: the list of all datasets.
 *
 * @throws CliError exit 2 where no dataset has that id or name, or several have that name; nothing was written by then
 */
export async function datasetId(search: DatasetSearch): Promise<string | undefined> {
	const { flags, settings, app } = search;
	const given = flags.dataset ?? settings.dataset?.value;
	if (given === undefined || ID.test(given)) return given;
	const datasets = await listedDatasets(search);
	if (datasets.some(({ id }) => id === given)) return given;
	const named = datasets.filter(({ name }) => name === given);
	const [only, ...others] = named;
	if (only === undefined) throw unknownDataset(given, datasets);
	if (others.length > 0) {
		throw usageError(
			`${named.length} datasets have the name ${show(given)}; nothing was sent`,
			`Name one by its id: ${named.map(({ id }) => show(id)).join(", ")}`,
		);
	}
	app.io.note(`Dataset ${show(given)} is ${show(only.id)}.`);
	return only.id;
}

/** The dataset that a command line or a profile names. @throws CliError exit 2 where neither does */
export function requireDataset(what: string, dataset: string | undefined): string {
	if (dataset !== undefined) return dataset;
	const hint = "Name it with -d DATASET; `ragtag datasets list` shows all datasets.";
	throw usageError(`${what} needs a dataset; nothing was sent`, hint);
}

/** All datasets of the key. Completion offers them from then on. */
async function listedDatasets({ settings, session, app }: Omit<DatasetSearch, "flags">): Promise<NamedDataset[]> {
	const datasets: NamedDataset[] = [];
	for await (const { id, name } of allDatasets(session.api, session.request)) datasets.push({ id, name });
	await (await app.rememberedDatasets(settings))?.save(datasets);
	return datasets;
}

/**
 * Refuses datasets of rows that the list of all datasets does not have, and whose documents are refused.
 *
 * @param lines the ids, with the line of the manifest that names each first; -d where it is undefined
 * @throws CliError exit 2
 */
export async function refuseUnlisted(
	search: Omit<DatasetSearch, "flags">,
	lines: ReadonlyMap<string, string | undefined>,
): Promise<void> {
	const datasets = await listedDatasets(search);
	for (const [given, line] of lines) {
		if (datasets.some(({ id }) => id === given) || (await hasDocuments(search.session, given))) continue;
		const named = datasets.filter(({ name }) => name === given);
		const where = line === undefined ? "" : `${line}: `;
		if (named.length === 0) throw unknownDataset(given, datasets, { where, not: "written" });
		throw usageError(
			`${where}${show(given)} is the name of a dataset, not its id; nothing was written`,
			`Write its id into the column dataset_id: ${named.map(({ id }) => show(id)).join(" or ")}. Or leave the column out, and add -d ${show(given)}.`,
		);
	}
}

/** Whether the documents of a dataset are listed, though it is not: a key may see less in one list than in the other. */
async function hasDocuments({ api, request }: Session, dataset: string): Promise<boolean> {
	try {
		await firstDocuments({ api, request, datasetId: dataset });
		return true;
	} catch (error) {
		// Without a flavour, code 102 has no certain meaning.
		if (restErrorOf(error)?.isRefusal === true) return false;
		throw error;
	}
}

function unknownDataset(
	given: string,
	datasets: readonly NamedDataset[],
	{ where, not } = { where: "", not: "sent" },
): CliError {
	const names = datasets.map(({ name }) => name);
	const near = closest(given, isDatasetId(given.trim()) ? datasets.map(({ id }) => id) : names);
	const listed = names.slice(0, MOST_NAMED).map((name) => show(name));
	const more = names.length > listed.length ? ", …" : "";
	const there =
		names.length === 0
			? "There are no datasets; create one with: ragtag datasets create NAME"
			: `There are: ${listed.join(", ")}${more}. ragtag datasets list shows all.`;
	return usageError(
		`${where}no dataset has the id or the name ${show(given)}; nothing was ${not}`,
		near === undefined ? there : `Did you mean ${show(near)}?`,
	);
}

/**
 * Explains refusals of rows before any row succeeded: the words are the same for a dataset that is not there and for one that
 * the key may not change.
 *
 * @returns a function that throws the CliError that ends the run where the service does not list the row's dataset
 */
export function refusalExplainer(run: Run): (error: RestError, datasetId: string) => Promise<void> {
	const listed = new Map<string, Promise<void>>();
	return async (error, datasetId) => {
		if (error.code !== "FORBIDDEN") return;
		const isListed = listed.get(datasetId) ?? refuseUnlisted(run, new Map([[datasetId, undefined]]));
		listed.set(datasetId, isListed);
		await isListed.catch((unlisted: unknown) => {
			if (restErrorOf(unlisted) === undefined) throw unlisted;
		});
	};
}
