import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { Given, ServiceFlags } from "../../flags/flags.ts";
import { quoted } from "../../flags/next-command.ts";
import type { JsonValue } from "../../json/values.ts";
import { mapLines } from "../../manifest/write.ts";
import { valueText } from "../../plan/condition.ts";
import { allDocuments, type ShortList } from "../../run/documents/list.ts";
import { WARN } from "../../run/documents/searches.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { writeNewFile } from "../outputs/out-file.ts";
import { chosenFormat, type Format, type ListColumn, printList } from "../lists/list-output.ts";
import { shortListError } from "../lists/warnings.ts";
import { openDataset } from "../open-run.ts";
import {
	refuseMissing,
	isMixed,
	type KeyCount,
	KeyCounts,
	typesText,
	type ValueCount,
	valueCounts,
} from "./value-counts.ts";

type ListedFlags = ServiceFlags &
	Given<{ dataset: string; format: Format; json: boolean; out: string }> & { readonly key: string | undefined };

/** Different values that are counted: more would fill the memory, and a list of them tells little. */
const MOST_VALUES = 1_000_000;

/** Prints the keys of a dataset, or the values of one key, or writes those into a map. */
export async function listValues(options: ListedFlags, app: App): Promise<ExitCode> {
	const { key, out } = options;
	await using run = await openDataset("values", options, app);
	const { session, dataset } = run;
	let short: ShortList | undefined;
	const keys = new KeyCounts();
	const counted = key === undefined ? undefined : valueCounts(key);
	const request = session.service.searches.believing(session.request, WARN);
	const onShort = (found: ShortList): void => void (short = found);
	const all = allDocuments({ api: session.api, request, datasetId: dataset }, { onShort });
	for await (const { metadata, inexact } of all) {
		keys.add(metadata);
		// A map can't name a value that came rounded.
		if (metadata !== undefined && (out === undefined || inexact?.has(key ?? "") !== true)) counted?.add(metadata);
		if (counted !== undefined && counted.different > MOST_VALUES) throw tooMany(show(key ?? ""));
	}
	refuseMissing(key === undefined ? [] : [key], keys, dataset);
	const { documents } = keys;
	const shown = show(options.dataset ?? dataset);
	if (key === undefined || counted === undefined) {
		await printKeys(keys.entries(), options, app);
		if (short !== undefined) throw shortListError(dataset, short, "the list above");
		app.io.note(`${documentsText(documents)} of dataset ${shown}`);
		return Exit.ok;
	}
	if (out === undefined) await printValues(counted.entries(), options, app);
	else await writeNewFile(out, app, (print) => print([...mapLines(counted.merged())].join("")));
	if (short !== undefined) throw shortListError(dataset, short, out ?? "the list above");
	for (const note of notesOf(key, keys, shown)) app.io.note(note);
	if (out !== undefined) {
		app.io.note(
			`${out}: ${numberText(counted.merged().length)} values. Fill its column new, then: ragtag values ${quoted(key)} -d ${quoted(options.dataset ?? dataset)} --map ${quoted(out)} --dry-run`,
		);
	}
	return Exit.ok;
}

/** `category: 197 of 200 documents, 3 lack it: ...`, and its types where there are several. */
function notesOf(key: string, keys: KeyCounts, dataset: string): string[] {
	const types = keys.typesOf(key);
	const have = types.reduce((sum, [, count]) => sum + count, 0);
	const lacking = keys.documents - have;
	const which = `ragtag docs list -d ${dataset} --missing ${quoted(key)}`;
	const rest = lacking === 0 ? "" : `, ${numberText(lacking)} ${lacking === 1 ? "lacks" : "lack"} it: ${which}`;
	const coverage = `${show(key)}: ${numberText(have)} of ${documentsText(keys.documents)}${rest}`;
	return isMixed(types) ? [`${show(key)} has values of several types: ${typesText(types)}`, coverage] : [coverage];
}

async function printKeys(all: readonly KeyCount[], options: ListedFlags, app: App): Promise<void> {
	const mixed = all.filter(({ types }) => isMixed(types));
	const types = (entry: KeyCount): string => `${isMixed(entry.types) ? "mixed: " : ""}${typesText(entry.types)}`;
	const shape = {
		columns: withBlanks<KeyCount>([
			{ name: "key", cell: ({ key }) => key },
			{ name: "documents", cell: ({ documents }) => String(documents) },
			{ name: "types", cell: types },
			{ name: "like", cell: ({ like }) => like.join(", ") },
		]),
		json: ({ key, documents, types, like }: KeyCount) =>
			JSON.stringify({ key, documents, types: Object.fromEntries(types), like }),
	};
	// Two types under one key are most likely a mistake.
	const entries = [...mixed, ...all.filter((entry) => !mixed.includes(entry))];
	await printList(entries, shape, chosenFormat(options), app);
}

async function printValues(entries: readonly ValueCount[], options: ListedFlags, app: App): Promise<void> {
	const shape = {
		columns: withBlanks<ValueCount>([
			{ name: "value", cell: ({ value }) => valueText(value) },
			{ name: "type", cell: ({ type, isItem }) => (isItem ? `${type} in a list` : type) },
			{ name: "documents", cell: ({ documents }) => String(documents) },
			{ name: "like", cell: ({ like }) => like.join(", ") },
		]),
		json: ({ value, type, isItem, documents, like }: ValueCount) =>
			JSON.stringify({ value, type, in_list: isItem, documents, like } satisfies Record<string, JsonValue>),
	};
	await printList(entries, shape, chosenFormat(options), app);
}

/** Blanks at the ends, several in sequence, and those that only look like one. */
const BLANKS = /^ +| +$| {2,}|[\u00a0\u2000-\u200a\u202f\u3000]/gu;

/** A table shows `Legal ` as `Legal␠`: people would take it for `Legal`. Other formats have the values as they are. */
function withBlanks<Item>(columns: readonly ListColumn<Item>[]): readonly ListColumn<Item>[] {
	const visible = (text: string): string => text.replaceAll(BLANKS, (blanks) => "␠".repeat(blanks.length));
	return columns.map((column) => ({ ...column, inTable: (item) => visible(column.cell(item)) }));
}

function tooMany(key: string): CliError {
	return new CliError(`${key} has more than ${numberText(MOST_VALUES)} different values; they are not counted`, {
		exit: Exit.failedRows,
		hint: "ragtag docs list shows the documents with their values.",
	});
}
