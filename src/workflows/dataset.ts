import type { App, Session, Settings } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import type { NamedDataset } from "../run/service/remembered-datasets.ts";
import { allDatasets } from "../run/documents/pages.ts";
import { show } from "../text/show.ts";
import { closest } from "./values/spellings.ts";

/** The parts that the search for a dataset uses. */
export type DatasetSearch = {
	readonly flags: { readonly dataset?: string | undefined };
	readonly settings: Settings;
	readonly session: Session;
	readonly app: App;
};

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
	const { flags, settings, session, app } = search;
	const given = flags.dataset ?? settings.dataset?.value;
	if (given === undefined || ID.test(given)) return given;
	if (ID.test(given.trim())) {
		const where = given.startsWith(given.trim()) ? "ends in" : "begins with";
		throw new CliError(`the dataset's id ${JSON.stringify(given)} ${where} a blank; nothing was sent`, {
			exit: Exit.usage,
			hint: `Leave the blank out: -d ${given.trim()}`,
		});
	}
	const datasets: NamedDataset[] = [];
	for await (const { id, name } of allDatasets(session.api, session.request)) datasets.push({ id, name });
	await (await app.rememberedDatasets(settings))?.save(datasets);
	if (datasets.some(({ id }) => id === given)) return given;
	const named = datasets.filter(({ name }) => name === given);
	const [only, ...others] = named;
	if (only === undefined) throw unknownDataset(given, datasets);
	if (others.length > 0) {
		throw new CliError(`${named.length} datasets have the name ${show(given)}; nothing was sent`, {
			exit: Exit.usage,
			hint: `Name one by its id: ${named.map(({ id }) => show(id)).join(", ")}`,
		});
	}
	app.io.note(`Dataset ${show(given)} is ${show(only.id)}.`);
	return only.id;
}

function unknownDataset(given: string, datasets: readonly NamedDataset[]): CliError {
	const names = datasets.map(({ name }) => name);
	const near = closest(given, names);
	const listed = names.slice(0, MOST_NAMED).map((name) => show(name));
	const more = names.length > listed.length ? ", …" : "";
	const there =
		names.length === 0
			? "There are no datasets; create one with: ragtag datasets create NAME"
			: `There are: ${listed.join(", ")}${more}. ragtag datasets list shows all.`;
	return new CliError(`no dataset has the id or the name ${show(given)}; nothing was sent`, {
		exit: Exit.usage,
		hint: near === undefined ? there : `Did you mean ${show(near)}?`,
	});
}
