import type { Command } from "commander";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { type Condition, meets } from "../../plan/condition.ts";
import { serverCondition } from "../../plan/server-condition.ts";
import { matches, type Where } from "../../plan/where.ts";
import type { Document } from "../../rest/types.ts";
import { allDocuments, type ShortList } from "../../run/pages.ts";
import { printDocumentsCsv } from "../documents-csv.ts";
import { addServiceOptions, type ServiceFlags, withSession } from "../flags.ts";
import type { Done } from "../declare.ts";
import { addFormatOption, chosenFormat, type Format, printList } from "../list-output.ts";
import { shortListError } from "../short-list.ts";
import { collectPair, CONDITION_EXAMPLE, parseConditionFlag, parseNonEmpty } from "../values.ts";
import { defaultFields, documentCells, documentJson } from "./document-faces.ts";

export type ListOptions = ServiceFlags & {
	readonly dataset?: string;
	readonly where?: readonly Where[];
	readonly whereJson?: Condition;
	readonly name?: string;
	readonly fields?: readonly string[];
	readonly format?: Format;
	readonly json?: boolean;
};

/** Declares the interface of `docs list`. What it does is in `list`. */
export function listCommand(docs: Command, app: App, done: Done, run = list): void {
	const command = docs
		.command("list")
		.summary("list documents with their metadata")
		.description("Lists the documents of a dataset with their metadata, every page.")
		.option("-d, --dataset <id>", "the dataset", parseNonEmpty)
		.option("--where <key=value>", "only documents with this metadata (repeated means and)", collectPair)
		.option("--where-json <condition>", "only documents that meet a metadata_condition, in JSON", parseConditionFlag)
		.option("--name <name>", "only the documents of this name, exactly", parseNonEmpty)
		.option("--fields <a,b,c>", "which members and metadata keys to show", parseFields)
		.option("--json", "JSON lines, the same as --format jsonl")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs list -d DATASET --where category=news\n  ragtag docs list -d DATASET --format csv > manifest.csv\n" +
				`  ragtag docs list -d DATASET --where-json '${CONDITION_EXAMPLE}'\n`,
		);
	addFormatOption(addServiceOptions(command)).action(async () => {
		done(await run(command.optsWithGlobals<ListOptions>(), app));
	});
}

function parseFields(text: string): string[] {
	const fields = text.split(",").map((field) => field.trim());
	if (fields.includes("")) throw new CliError(`--fields ${text} has an empty name`, { exit: Exit.usage });
	return fields;
}

export async function list(options: ListOptions, app: App): Promise<ExitCode> {
	return withSession(options, app, async (session, settings) => {
		const dataset = options.dataset ?? settings.dataset?.value;
		if (dataset === undefined) {
			throw new CliError("docs list needs a dataset", {
				exit: Exit.usage,
				hint: "Name it with -d DATASET; `ragtag datasets list` shows what there is.",
			});
		}
		const { name, where = [], whereJson: condition, fields } = options;
		const { service, request } = session;
		const sent = serverCondition(where, condition);
		// Whether the service can filter depends on its flavour; without a filter nothing does.
		const api = sent === undefined ? service.api : await service.known(request);
		let short: ShortList | undefined;
		const all = allDocuments(api, request, dataset, { name, condition: sent }, (list) => (short = list));
		const documents = wanted(
			all,
			(document) =>
				(name === undefined || document.name === name) &&
				matches(document.metadata, where) &&
				(condition === undefined || meets(document.metadata, condition)),
		);
		const format = chosenFormat(options);
		if (format === "csv") await printDocumentsCsv(documents, fields, settings, app);
		else {
			const columns = fields ?? defaultFields;
			const faces = {
				cells: (document: Document) => documentCells(document, columns),
				json: (document: Document) => documentJson(document, fields),
			};
			await printList(documents, columns, faces, format, app);
		}
		if (short !== undefined) throw shortListError(dataset, short, "the list above");
		return Exit.ok;
	});
}

/** Filters here, whatever the service did with what it was asked. */
async function* wanted(
	documents: AsyncIterable<Document>,
	isWanted: (document: Document) => boolean,
): AsyncGenerator<Document> {
	for await (const document of documents) if (isWanted(document)) yield document;
}
