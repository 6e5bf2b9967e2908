import { InvalidArgumentError } from "commander";
import type { App } from "../../app.ts";
import { Exit, type ExitCode, usageError } from "../../errors.ts";
import type { Document } from "../../rest/types.ts";
import type { Run } from "../../rest/parsing.ts";
import type { ShortList } from "../../run/documents/list.ts";
import { WARN } from "../../run/documents/searches.ts";
import { printDocumentsCsv } from "../../workflows/lists/documents-csv.ts";
import { datasetOption, SERVICE, type ServiceFlags } from "../../flags/flags.ts";
import { declare, Flag, toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import { IN_JSON, IN_MANIFESTS, IN_TABLES, shortListError, warningOfInexact } from "../../workflows/lists/warnings.ts";
import { chosenFormat, isTable, LIST, printList } from "../../workflows/lists/list-output.ts";
import {
	defaultFields,
	documentColumn,
	documentJson,
	documentMembers,
	documentTable,
	firstOf,
	heldUntil,
	sortedDocuments,
	type SortOrder,
} from "../../workflows/lists/document-table.ts";
import { documentsOfIds } from "../../workflows/named-document.ts";
import { openDataset } from "../../workflows/open-run.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { CONDITION_EXAMPLE, parseCount } from "../../flags/values.ts";
import {
	type FilterChecks,
	filteredDocuments,
	filterKeys,
	FILTERS,
	filterText,
	type NamedKey,
} from "../../workflows/rows/document-filter.ts";
import { KeyCounts } from "../../workflows/values/value-counts.ts";

/** The states of parsing, by their names in lists. */
const RUNS = ["UNSTART", "RUNNING", "CANCEL", "DONE", "FAIL"] as const satisfies readonly Run[];

/** Documents: more than any dataset is known to have. */
const MOST_LIMIT = 10_000_000;

const OPTIONS = {
	...FILTERS,
	...SERVICE,
	...LIST,
	dataset: datasetOption(),
	id: new Flag<readonly string[]>("--id <id...>", "the documents of these ids alone (repeatable)"),
	parsing: valued("--parsing <list>", `those in these states of parsing: ${RUNS.join(",")}`, parseRuns),
	untagged: toggle("--untagged", "those without any metadata"),
	allowEmpty: toggle("--allow-empty", "accepts keys that no document has").helpGroup("Which documents:"),
	fields: valued("--fields <a,b,c>", "which members and metadata keys to show", parseFields),
	limit: valued(
		"--limit <n>",
		"at most so many documents; no more pages are read than they need",
		parseCount(1, MOST_LIMIT),
	),
	sort: valued(
		"--sort <field>",
		"sorts by a member or a metadata key, numbers by value; -FIELD begins with the largest",
		parseSort,
	),
	wide: toggle("--wide", "a table with whole names and all its columns, also in a pipe"),
};

type ListOptions = ServiceFlags & ValuesOf<typeof OPTIONS>;

export const listCommand = declare({
	summary: "list documents with their metadata",
	description:
		"Lists all documents of a dataset with their metadata. A table has the name, a column for each of the ten commonest " +
		"keys of the first 1,000 documents, as far as they fit, size, time and id; --fields chooses other columns, " +
		"--wide shows all of them.",
	examples:
		"ragtag docs list -d DATASET --where category=news\nragtag docs list -d DATASET --sort -size --limit 10\nragtag docs list -d DATASET --format csv > manifest.csv\n" +
		`ragtag docs list -d DATASET --where-json '${CONDITION_EXAMPLE}'`,
	options: OPTIONS,
	run: list,
});

function parseFields(text: string): string[] {
	const fields = text.split(",").map((field) => field.trim());
	if (fields.includes("")) throw usageError(`--fields ${text} has an empty name`);
	return fields;
}

function parseRuns(text: string): Run[] {
	return text.split(",").map((word) => {
		const run = RUNS.find((each) => each === word.trim().toUpperCase());
		if (run === undefined) throw new InvalidArgumentError(`"${word}" is no state; states are ${RUNS.join(", ")}.`);
		return run;
	});
}

function parseSort(text: string): SortOrder {
	const descending = text.startsWith("-");
	const field = descending ? text.slice(1) : text;
	if (field.trim() === "") throw new InvalidArgumentError("It names no field.");
	if (field === "meta_fields") throw new InvalidArgumentError("Name one key of the metadata.");
	return { field, descending };
}

async function list(options: ListOptions, app: App): Promise<ExitCode> {
	await using run = await openDataset("docs list", options, app);
	const { session, dataset, settings } = run;
	const { fields } = options;
	let short: ShortList | undefined;
	const format = chosenFormat(options);
	const keys = new KeyCounts();
	const named = options.allowEmpty === true ? [] : namedKeys(options);
	const counts: Counts = { found: 0, isWhole: false, total: undefined };
	const checks: FilterChecks = {
		onShort: (list) => (short = list),
		onTotal: (total) => (counts.total = total),
		keys,
		named,
		doubts: WARN,
	};
	const { id } = options;
	const found =
		id === undefined ? filteredDocuments(session, dataset, options, checks) : documentsOfIds(session, dataset, id);
	const listed = inState(found, options, counts);
	const { sort, limit } = options;
	const sorted = sort === undefined ? listed : sortedDocuments(listed, sort, limit);
	const chosen = limit === undefined ? sorted : firstOf(sorted, limit);
	const held = heldUntil(chosen, () => keys.firstUnknown(named) === undefined);
	const shown = fields?.includes("meta_fields") === true ? undefined : fields;
	const isJson = format === "json" || format === "jsonl";
	const fates = format === "csv" ? IN_MANIFESTS : isJson ? IN_JSON : IN_TABLES;
	const documents = warningOfInexact(held, shown, fates, app);
	if (format === "csv") await printDocumentsCsv(documents, { fields, settings, app });
	else {
		const shape = {
			columns: (fields ?? defaultFields).map(documentColumn),
			json: (document: Document) => documentJson(document, fields),
			table: fields === undefined ? documentTable : undefined,
			isWide: options.wide === true,
		};
		const shown = await printList(documents, shape, format, app);
		if (isTable(format, app.io) && !app.io.stdoutClosed) app.io.note(countText(shown, counts, options));
	}
	if (short !== undefined) throw shortListError(dataset, short, "the list above");
	return Exit.ok;
}

/** Keys that some document must have. A list by name alone shows too few documents to judge by what is printed. */
function namedKeys(options: ListOptions): readonly NamedKey[] {
	const { fields = [], sort, name, id } = options;
	const printed = [
		...fields.map((key) => ({ flag: "--fields", key })),
		...(sort === undefined ? [] : [{ flag: "--sort", key: sort.field }]),
	].filter(({ key }) => key !== "meta_fields" && !documentMembers.has(key));
	return [...filterKeys(options), ...(name === undefined && id === undefined ? printed : [])];
}

/**
 * The documents in the states that the options name, counted.
 *
 * @throws CliError exit 2 where the service shows no state
 */
async function* inState(
	documents: AsyncIterable<Document>,
	{ parsing, untagged = false }: ListOptions,
	counts: Counts,
): AsyncGenerator<Document> {
	for await (const document of documents) {
		const { metadata } = document;
		if (parsing !== undefined && document.parsing?.run === undefined) {
			throw usageError("--parsing: this service shows no state of parsing");
		}
		if (untagged && metadata === undefined) {
			throw usageError("--untagged: the list does not show the metadata of each document");
		}
		if (parsing?.some((run) => run === document.parsing?.run) === false) continue;
		if (untagged && metadata?.size !== 0) continue;
		counts.found += 1;
		yield document;
	}
	counts.isWhole = true;
}

/** The known number of documents. */
type Counts = {
	/** documents that met the filter so far */
	found: number;
	/** whether the list was read to its end */
	isWhole: boolean;
	/** documents of the dataset, as the service counts them */
	total: number | undefined;
};

/** `250 documents`, and with `--limit` `5 of 250 documents`, or `the first 5 documents` where it is not known of how many. */
function countText(shown: number, { found, isWhole, total }: Counts, options: ListOptions): string {
	const isFiltered = filterText(options) !== "" || options.parsing !== undefined || options.untagged === true;
	const all = isWhole ? found : isFiltered ? undefined : total;
	if (all !== undefined) return all > shown ? `${numberText(shown)} of ${documentsText(all)}` : documentsText(shown);
	return shown === 1 ? "the first document" : `the first ${documentsText(shown)}`;
}
