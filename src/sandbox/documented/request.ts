import type { IncomingMessage } from "node:http";
import type { Service } from "../answer.ts";
import type { MetadataFilter } from "../condition/filter.ts";
import { type Condition, type ConditionRules, operators } from "../condition/operators.ts";
import { isObject } from "../json-text.ts";
import type { Settings } from "../options.ts";
import { Refusal } from "../refusal.ts";
import { datasetNameLimit, type StoredDataset } from "../store/datasets.ts";
import { documentNameLimit } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { defaultPageSize, type PageWindow } from "../store/pages.ts";

/** One request whose host, key, path and method were checked. */
export type Call = {
	readonly request: IncomingMessage;
	readonly query: URLSearchParams;
	/** the ids in the path, empty where the path has none */
	readonly datasetId: string;
	readonly documentId: string;
};

/** Answers a call with the JSON text of the envelope's `data`, or throws a `Refusal`. */
export type Route = (call: Call, service: Service) => Promise<string>;

export function findDataset(store: Store, id: string): StoredDataset {
	const dataset = store.datasets.find(id);
	if (dataset === undefined) throw new Refusal(404, `there is no dataset ${id}`);
	return dataset;
}

/** For a document that was not found: whether its dataset or the document is missing. */
export function notFound(store: Store, { datasetId, documentId }: Call): Refusal {
	findDataset(store, datasetId);
	return new Refusal(404, `dataset ${datasetId} has no document ${documentId}`);
}

/** The part of a list that `page` and `page_size` select. */
export function windowOf(query: URLSearchParams, settings: Settings): PageWindow {
	const page = positive(query, "page") ?? 1;
	let limit = positive(query, "page_size") ?? Math.min(defaultPageSize, settings.pageSizeLimit);
	if (limit > settings.pageSizeLimit) {
		if (settings.onLargePage === "error") throw new Refusal(400, `page_size is over ${settings.pageSizeLimit}`);
		limit = settings.pageSizeLimit;
	}
	const offset = (page - 1) * limit;
	if (!Number.isSafeInteger(offset)) throw new Refusal(400, "page is too large");
	return { limit, offset };
}

/** A filter's text. An empty one is refused, because it could mean "no document" as well as "all documents". */
export function filterOf(query: URLSearchParams, name: string): string | undefined {
	const value = query.get(name) ?? undefined;
	if (value === "") throw new Refusal(400, `${name} is empty`);
	return value;
}

/** A boolean of the query, in any case: clients send `False` to deployed servers. */
export function flagOf(query: URLSearchParams, name: string): boolean {
	const value = query.get(name)?.toLowerCase() ?? "false";
	if (value !== "true" && value !== "false") throw new Refusal(400, `${name} is neither true nor false`);
	return value === "true";
}

function positive(query: URLSearchParams, name: string): number | undefined {
	const text = query.get(name);
	if (text === null) return undefined;
	const number = /^\d+$/.test(text) ? Number(text) : 0;
	if (number < 1 || !Number.isSafeInteger(number)) throw new Refusal(400, `${name} is not a whole number from 1 on`);
	return number;
}

/** The documentation does not describe filters by metadata, so they work as in the last releases. */
export const documentedRules: ConditionRules = {
	contains: "wanted-in-stored",
	dates: true,
	numbers: "each",
	listsWithoutCase: true,
	asciiOperators: true,
	join: "plain",
	withoutConditions: "all",
};

/** Parses a `metadata_condition`, and refuses what is not valid. */
export function parseCondition(text: string): MetadataFilter {
	const { logic = "and", conditions = [] } = parsedObject(text);
	if (logic !== "and" && logic !== "or") throw badCondition('"logic" is neither "and" nor "or"');
	if (!Array.isArray(conditions)) throw badCondition('"conditions" is not a list');
	return { logic, conditions: conditions.map(oneCondition) };
}

function oneCondition(condition: unknown): Condition {
	if (!isObject(condition)) throw badCondition("a condition is not an object");
	const { name, comparison_operator: sent, value } = condition;
	if (typeof name !== "string" || name === "") throw badCondition('a condition has no "name"');
	if (typeof sent !== "string") throw badCondition('a condition has no "comparison_operator"');
	const operator = sent === "is" ? "=" : sent === "not is" ? "≠" : sent;
	if (sent === "=" || sent === "≠" || !operators.has(operator))
		throw badCondition(`"comparison_operator" ${JSON.stringify(sent)} is unknown`);
	return { key: name, operator, value };
}

function parsedObject(text: string): { readonly [key: string]: unknown } {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw badCondition("it is not JSON");
	}
	if (!isObject(value)) throw badCondition("it is not an object");
	return value;
}

function badCondition(why: string): Refusal {
	return new Refusal(400, `metadata_condition: ${why}`);
}

export function checkDatasetName(name: unknown): string {
	if (typeof name !== "string") throw new Refusal(400, "name is missing or not text");
	checkNameText(name);
	if (name.trim() === "") throw new Refusal(400, "name is empty");
	if (Array.from(name).length > datasetNameLimit) throw new Refusal(400, `name is over ${datasetNameLimit} characters`);
	return name;
}

/** The name under which a file is stored: the last segment of the part's file name. */
export function checkDocumentName(fileName: string | undefined): string {
	if (fileName === undefined) throw new Refusal(400, "a part named file has no file name");
	const name = fileName.slice(Math.max(fileName.lastIndexOf("/"), fileName.lastIndexOf("\\")) + 1);
	checkNameText(name);
	if (name === "" || name === "." || name === "..") throw new Refusal(400, "the file name of a part is empty");
	if (Buffer.byteLength(name) > documentNameLimit)
		throw new Refusal(400, `a file name is over ${documentNameLimit} bytes`);
	return name;
}

/** SQLite returns text only up to a NUL, so such a name would become another one. */
function checkNameText(name: string): void {
	if (name.includes("\0")) throw new Refusal(400, "a name contains a NUL character");
}
