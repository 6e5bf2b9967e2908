import type { Command } from "commander";
import type { App } from "../app.ts";
import { CliError, Exit, type ExitCode, usageError } from "../errors.ts";
import { addServiceOptions, type ServiceFlags } from "../flags/flags.ts";
import type { Done } from "../flags/declare.ts";
import { parseNonEmpty } from "../flags/values.ts";
import type { JsonValue } from "../json/values.ts";
import { valueText } from "../plan/condition.ts";
import { allDocuments, type ShortList } from "../run/documents/list.ts";
import { WARN } from "../run/documents/searches.ts";
import { show } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import { addFormatOption, chosenFormat, type Format, printList } from "../workflows/lists/list-output.ts";
import { withDataset } from "../workflows/dataset.ts";
import { shortListError } from "../workflows/lists/warnings.ts";
import { closest } from "../workflows/values/spellings.ts";
import { type KeyCount, KeyCounts, type ValueCount, ValueCounts } from "../workflows/values/value-counts.ts";

export type ValuesOptions = ServiceFlags & {
	readonly key: string | undefined;
	readonly dataset?: string | undefined;
	readonly format?: Format | undefined;
	readonly json?: boolean | undefined;
};

/** Different values that are counted: more would fill the memory, and a list of them tells little. */
const MOST_VALUES = 1_000_000;

/** Declares the interface of `values`. What it does is in `values`. */
export function valuesCommand(program: Command, app: App, done: Done, run = values): void {
	const command = program
		.command("values")
		.summary("count the metadata keys of a dataset, or the values of one key")
		.description(
			"Counts the metadata keys of a dataset with their types, or the values of one key. The column like names the " +
				"commoner key or value that this one may be a misspelling of.",
		)
		.argument("[key]", "a metadata key; without one, the keys are counted")
		.option("-d, --dataset <id or name>", "the dataset", parseNonEmpty)
		.option("--json", "JSON lines, the same as --format jsonl")
		.addHelpText(
			"before",
			"Examples:\n  ragtag values -d DATASET\n  ragtag values -d DATASET category\n  ragtag values -d DATASET --format csv > keys.csv\n",
		);
	addFormatOption(addServiceOptions(command)).action(async (key: string | undefined) => {
		done(await run({ ...command.optsWithGlobals<Omit<ValuesOptions, "key">>(), key }, app));
	});
}

export async function values(options: ValuesOptions, app: App): Promise<ExitCode> {
	const { key } = options;
	return withDataset("values", options, app, async (session, dataset) => {
		let short: ShortList | undefined;
		const keys = new KeyCounts();
		const counted = key === undefined ? undefined : new ValueCounts(key);
		const seen = { documents: 0, withMetadata: 0 };
		const request = session.service.searches.believing(session.request, WARN);
		for await (const { metadata } of allDocuments(session.api, request, dataset, {
			onShort: (list) => (short = list),
		})) {
			seen.documents += 1;
			if (metadata === undefined) continue;
			seen.withMetadata += 1;
			keys.add(metadata);
			counted?.add(metadata);
			if (counted !== undefined && counted.different > MOST_VALUES) throw tooMany(show(key ?? ""));
		}
		if (seen.documents > 0 && seen.withMetadata === 0) throw noMetadata(dataset);
		const entries = keys.entries();
		if (key !== undefined && !entries.some((entry) => entry.key === key)) throw unknownKey(key, dataset, entries);
		await (counted === undefined ? printKeys(entries, options, app) : printValues(counted.entries(), options, app));
		if (short !== undefined) throw shortListError(dataset, short, "the list above");
		app.io.note(`${documentsText(seen.documents)} of dataset ${show(options.dataset ?? dataset)}`);
		return Exit.ok;
	});
}

async function printKeys(entries: readonly KeyCount[], options: ValuesOptions, app: App): Promise<void> {
	const shape = {
		columns: ["key", "documents", "types", "like"],
		cells: ({ key, documents, types, like }: KeyCount) => [
			key,
			String(documents),
			types.map(([type, count]) => (types.length === 1 ? type : `${type} ${count}`)).join(", "),
			like.join(", "),
		],
		json: ({ key, documents, types, like }: KeyCount) =>
			JSON.stringify({ key, documents, types: Object.fromEntries(types), like }),
	};
	await printList(entries, shape, chosenFormat(options), app);
}

async function printValues(entries: readonly ValueCount[], options: ValuesOptions, app: App): Promise<void> {
	const shape = {
		columns: ["value", "type", "documents", "like"],
		cells: ({ value, type, isItem, documents, like }: ValueCount) => [
			valueText(value),
			isItem ? `${type} in a list` : type,
			String(documents),
			like.join(", "),
		],
		json: ({ value, type, isItem, documents, like }: ValueCount) =>
			JSON.stringify({ value, type, in_list: isItem, documents, like } satisfies Record<string, JsonValue>),
	};
	await printList(entries, shape, chosenFormat(options), app);
}

function tooMany(key: string): CliError {
	return new CliError(`${key} has more than ${numberText(MOST_VALUES)} different values; they are not counted`, {
		exit: Exit.failedRows,
		hint: "ragtag docs list shows the documents with their values.",
	});
}

function noMetadata(dataset: string): CliError {
	return new CliError(`the list of dataset ${show(dataset)} shows no metadata, so there is nothing to count`, {
		exit: Exit.failedRows,
		hint: "ragtag doctor says what this service is.",
	});
}

function unknownKey(key: string, dataset: string, entries: readonly KeyCount[]): CliError {
	const near = closest(
		key,
		entries.map((entry) => entry.key),
	);
	const there = entries.slice(0, 10).map((entry) => show(entry.key));
	const known = there.length === 0 ? "No document has any metadata." : `The commonest keys: ${there.join(", ")}.`;
	return usageError(
		`no document of dataset ${show(dataset)} has the key ${show(key)}`,
		near === undefined ? known : `Did you mean ${show(near)}?`,
	);
}
