import { type MetadataFilter, matchingIds, valuesByKey } from "../condition/filter.ts";
import type { ListRules, Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { isFalsy, parsePythonJson, pythonStr } from "../python.ts";
import { collationKey, partKey } from "../store/collation.ts";
import { textColumn } from "../store/database.ts";
import type { Store } from "../store/index.ts";
import type { RowFilter } from "../store/pages.ts";
import { checkConditionText, conditionOf, filterOf, refusedList } from "./list-query.ts";
import { fileTypeOf, suffixOf } from "./names.ts";

export const runStates: ReadonlyMap<string, string> = new Map([
	["UNSTART", "0"],
	["RUNNING", "1"],
	["CANCEL", "2"],
	["DONE", "3"],
	["FAIL", "4"],
]);

/** `VALID_FILE_TYPES` in api/db/__init__.py, v0.25.0 to v0.27.0. */
const validTypes: ReadonlySet<string> = new Set(["pdf", "doc", "visual", "aural", "virtual", "folder", "other"]);

/**
 * The filter by `keywords`, `suffix`, `types` and `run`.
 *
 * @param runOf the state of the parsing of a document, by its id
 */
export function nameAndStateFilter(
	query: URLSearchParams,
	{ list, reads }: Release,
	runOf: (document: string) => string,
): RowFilter | undefined {
	const keywords = partKey(filterOf(query, "keywords") ?? "");
	const suffixes = list.filters ? query.getAll("suffix") : [];
	const types = list.metadataFilters ? query.getAll("types") : [];
	const invalid = [...new Set(types.filter((type) => !validTypes.has(type)))];
	// v1.0 takes any text, which no document then has (`applyDocumentListFilters` in internal/dao/document.go).
	if (invalid.length > 0 && reads === "as-python") {
		const end = invalid.length > 1 ? "types" : "type";
		throw refusedList(`Invalid filter conditions: ${invalid.join(", ")} ${end}`, list);
	}
	const runs = list.filters ? runsOf(query, list) : [];
	if (keywords === "" && suffixes.length === 0 && types.length === 0 && runs.length === 0) return undefined;
	const endings = new Set(suffixes.map(collationKey));
	const pattern = list.keywords === "pattern" ? likePattern(keywords) : undefined;
	const hasKeywords = (name: string): boolean => pattern?.test(name) ?? name.includes(keywords);
	return (row) => {
		const name = textColumn(row, "name");
		if (!hasKeywords(partKey(name))) return false;
		if (endings.size > 0 && !endings.has(collationKey(suffixOf(name)))) return false;
		if (types.length > 0 && !types.includes(fileTypeOf(name))) return false;
		return runs.length === 0 || runs.includes(runStates.get(runOf(textColumn(row, "id"))) ?? "");
	};
}

/** The states that are asked for. `_parse_run_status_filter` of document_api.py (v0.25.6 on) also reads other names and letters. */
function runsOf(query: URLSearchParams, list: ListRules): readonly string[] {
	const isLoose = list.runs === "any-letters";
	const states = new Map(isLoose ? [...runStates, ["SCHEDULE", "5"]] : runStates);
	const names = isLoose ? ["run", "run[]", "run_status", "run_status[]"] : ["run"];
	const sent = names.flatMap((name) => query.getAll(name)).map((run) => (isLoose ? run.trim() : run));
	const runs = (isLoose ? sent.filter((run) => run !== "") : sent).map(
		(run) => states.get(isLoose ? run.toUpperCase() : run) ?? run,
	);
	const known = [...states.values()];
	const unknown = [...new Set(runs.filter((run) => !known.includes(run)))];
	if (list.unknownRun === "refused" && unknown.length > 0)
		throw refusedList(`Invalid filter run status conditions: ${unknown.join(", ")}`, list);
	return runs;
}

/** SQL's LIKE: `%` stands for any letters, `_` for one, and a backslash takes that meaning from what follows. */
function likePattern(keywords: string): RegExp {
	const source = keywords.replace(/\\?[^]/gu, (found) => {
		if (found === "%") return "[^]*";
		return found === "_"
			? "[^]"
			: `\\u{${(found.codePointAt(found.length > 1 && found.startsWith("\\") ? 1 : 0) ?? 0).toString(16)}}`;
	});
	return new RegExp(source, "u");
}

/** What a list asks of metadata: a condition, one of some texts under each key, or that there is none. */
export type MetadataFilters = {
	readonly condition?: MetadataFilter | undefined;
	readonly values?: ReadonlyMap<string, readonly string[]>;
	readonly onlyEmpty: boolean;
};

/** `_parse_doc_id_filter_with_metadata` in api/apps/restful_apis/document_api.py, v0.25.0 to v0.27.0. */
export function metadataFiltersOf(query: URLSearchParams, release: Release): MetadataFilters {
	const { list } = release;
	if (!list.metadataFilters) return { condition: conditionOf(query, release), onlyEmpty: false };
	checkConditionText(query, list);
	const metadata = parsedMetadata(query, list);
	const wantsEmpty = isObject(metadata) && !isFalsy(metadata["empty_metadata"]);
	if (wantsEmpty || query.get("return_empty_metadata")?.toLowerCase() === "true") return { onlyEmpty: true };
	const condition = conditionOf(query, release);
	if (!isObject(metadata) && !isFalsy(metadata)) throw refusedList("metadata must be an object.", list);
	const values = new Map<string, string[]>();
	for (const [key, value] of Object.entries(isObject(metadata) ? metadata : {})) {
		const texts = (isFalsy(value) ? [] : Array.isArray(value) ? value : [value])
			.filter((each: unknown) => each !== null)
			.map(pythonStr)
			.filter((text) => text.trim() !== "");
		if (texts.length > 0) values.set(key, texts);
	}
	return { condition, values, onlyEmpty: false };
}

function parsedMetadata(query: URLSearchParams, list: ListRules): unknown {
	try {
		return parsePythonJson(query.get("metadata") ?? "{}");
	} catch {
		throw refusedList("metadata must be valid JSON.", list);
	}
}

/** The ids of the documents that meet filters; undefined where all do. `isUnknown` where searches fail: then none does. */
export async function filteredIds(
	store: Store,
	dataset: number,
	{ condition, values = new Map() }: MetadataFilters,
	{ release, isUnknown }: { readonly release: Release; readonly isUnknown: boolean },
): Promise<ReadonlySet<string> | undefined> {
	const { condition: rules } = release.list;
	const isFiltered = condition !== undefined && rules !== undefined && rules !== "checked";
	if (!isFiltered && values.size === 0) return undefined;
	if (isUnknown) return new Set();
	let found = isFiltered ? await matchingIds(store, dataset, condition, rules) : undefined;
	const keys = values.size === 0 ? undefined : await valuesByKey(store, dataset);
	for (const [key, texts] of values) {
		const having = new Set(texts.flatMap((text) => keys?.get(key)?.get(text) ?? []));
		found = found === undefined ? having : new Set([...found].filter((id) => having.has(id)));
	}
	return found;
}
