import type { Session } from "../../app.ts";
import { type JsonValue, type Metadata, isJsonArray } from "../../json/values.ts";
import { lacks, matches, meets } from "../../plan/condition.ts";
import { bareValue, conditionText } from "../../plan/condition-text.ts";
import type { Document } from "../../rest/types.ts";
import { askForName } from "../../run/documents/find-named.ts";
import { type ShortList, allDocuments, firstDocuments } from "../../run/documents/list.ts";
import type { Doubts } from "../../run/documents/searches.ts";
import { showsMetadata } from "../../run/documents/before-images.ts";
import { quoted } from "../../flags/next-command.ts";
import { valued, type ValuesOf } from "../../flags/declare.ts";
import { collect, collectWhere, parseConditionFlag, parseNonEmpty } from "../../flags/values.ts";
import type { KeyCounts } from "../values/value-counts.ts";

/** The reports and checks of `filteredDocuments` while it lists. */
export type FilterChecks = {
	/** called at the end of a list that stays short */
	readonly onShort: (list: ShortList) => void;
	/** called with the number of documents of the dataset, where the service gives it */
	readonly onTotal?: (total: number) => void;
	/** gets the keys of every document that was listed */
	readonly keys: KeyCounts;
	/** keys that some document must have; none where `--allow-empty` accepts others */
	readonly named: readonly NamedKey[];
	/** the end of the error for a key that no document has */
	readonly end?: string | undefined;
	/** what is done where no document shows metadata, and a list may hide it */
	readonly doubts: Doubts;
};

/** The keys that a filter names, by their flags. */
export function filterKeys({ where = [], whereJson, missing = [] }: FilterFlags): readonly NamedKey[] {
	return [
		...where.map(([key]) => ({ flag: "--where", key })),
		...(whereJson?.tests ?? []).map(({ name }) => ({ flag: "--where-json", key: name })),
		...missing.map((key) => ({ flag: "--missing", key })),
	];
}

/** The options of a filter, as rules name them. */
export const FILTER = "--where or --where-json or --missing or --name";

export const FILTERS = {
	where: valued(
		"--where <key=value>",
		"only documents with exactly this metadata (repeatable; all must hold); a key that no document has is an error, unless --allow-empty is given",
		collectWhere,
	).rule("excludes", FILTER, undefined, "MANIFEST or --id"),
	whereJson: valued(
		"--where-json <condition>",
		"only documents that meet a metadata_condition of RAGFlow, in JSON; text is compared without case, and a document without the key meets no condition on it",
		parseConditionFlag,
	),
	missing: valued(
		"--missing <key>",
		"only documents without this key (repeatable; all must hold); a key with a null or empty value is not missing",
		collect,
	),
	name: valued("--name <name>", "only documents with exactly this name", parseNonEmpty),
};

/** Selects documents of a dataset. A document must meet all given conditions; without any there is no filter. */
export type FilterFlags = ValuesOf<typeof FILTERS>;

/** The filter as it is typed: `--where category=news --name a.md`. Empty where there is none. */
export function filterText({ where = [], whereJson, missing = [], name }: FilterFlags): string {
	const words = where.map(([key, value]) => `--where ${quoted(`${key}=${value}`)}`);
	if (whereJson !== undefined) words.push(`--where-json ${quoted(conditionText(whereJson))}`);
	for (const key of missing) words.push(`--missing ${quoted(key)}`);
	if (name !== undefined) words.push(`--name ${quoted(name)}`);
	return words.join(" ");
}

/**
 * The documents of a dataset that meet a filter, each once. Filters here, whatever the service did with the name.
 *
 * @throws CliError exit 2 after the last document for a key that no document of the dataset has; an empty dataset has none
 */
export async function* filteredDocuments(
	{ service, request: plain }: Pick<Session, "service" | "request">,
	dataset: string,
	{ where = [], whereJson, missing = [], name }: FilterFlags,
	checks: FilterChecks,
): AsyncGenerator<Document> {
	const request = service.searches.believing(plain, checks.doubts);
	const bare = whereJson && bareValue(whereJson);
	if (bare !== undefined) {
		// `meta_filter` in common/metadata_utils.py, v0.27.0; v0.24 to v0.26 compare a number with stored ones.
		const text = `RAGFlow v0.27 finds no document by ${bare} in --where-json; here it is compared with what the documents have.`;
		service.noteOnce("BARE_VALUE", `${text} As text, "${bare}", it means the same everywhere.`);
	}
	// Whether a list may hide metadata depends on the flavour.
	const api = where.length > 0 || whereJson !== undefined ? await service.known(request) : service.api;
	let isShort = false;
	const onShort = (list: ShortList): void => {
		isShort = true;
		checks.onShort(list);
	};
	let shows: Promise<boolean> | undefined;
	/** A document that never had any metadata may be listed without the member, which then lacks every key. */
	const lacksKeys = async (metadata: Metadata | undefined): Promise<boolean> => {
		if (missing.length === 0) return true;
		if (metadata !== undefined) return lacks(metadata, missing);
		return (shows ??= showsMetadata(service, request, dataset));
	};
	const { onTotal } = checks;
	const all = { api, request, datasetId: dataset };
	const found = name === undefined ? undefined : await askForName(all, name);
	// That no document has the name may mean that there is no such dataset. Then this fails.
	if (found?.length === 0) await firstDocuments(all);
	for await (const document of found ?? allDocuments(all, { onShort, onTotal })) {
		checks.keys.add(document.metadata);
		const isMeant =
			(name === undefined || document.name === name) &&
			matches(asGiven(document), where) &&
			(whereJson === undefined || meets(asGiven(document), whereJson)) &&
			(await lacksKeys(document.metadata));
		if (isMeant) yield document;
	}
	const { keys, named, end = "" } = checks;
	if (isShort || keys.documents === 0 || keys.firstUnknown(named) === undefined) return;
	// The service may have left out documents that have the key.
	if (name !== undefined) {
		for await (const document of allDocuments(all)) {
			keys.add(document.metadata);
			if (keys.firstUnknown(named) === undefined) return;
		}
	}
	const unknown = keys.firstUnknown(named);
	// A list that never shows metadata tells nothing about keys.
	if (unknown === undefined || (keys.showNone && !(await showsMetadata(service, request, dataset)))) return;
	const advice = " --allow-empty accepts a key that no document has.";
	throw keys.unknown(unknown.key, dataset, { before: `${unknown.flag}: `, end, advice });
}

/** Metadata with the exact text of each rounded number, so that a filter compares all its digits. */
function asGiven({ metadata, inexact }: Document): Metadata | undefined {
	if (metadata === undefined || inexact === undefined) return metadata;
	// The items of a list are compared one by one.
	const texts = [...inexact].filter(([key]) => !isJsonArray(metadata.get(key)));
	return new Map<string, JsonValue>([...metadata, ...texts]);
}

/** A metadata key, and the flag that names it. */
export type NamedKey = { readonly flag: string; readonly key: string };
