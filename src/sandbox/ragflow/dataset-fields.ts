import type { Release } from "../flavours/release.ts";
import { datasetNameLimit } from "../settings.ts";
import { filledDatasetId } from "../store/fill.ts";
import type { Window } from "../query.ts";
import { argument, field, fieldText } from "./fields.ts";
import { Code, exception, Failure } from "./failure.ts";
import { defaultPageSize } from "../settings.ts";
import { wholeOf } from "./query.ts";

/** The name of a dataset, without blanks around it; pydantic's words, or those of v0.18 (api/apps/sdk/dataset.py). */
export function datasetName(members: { readonly [name: string]: unknown }, release: Release): string {
	const given = members["name"];
	if (release.datasets.checks === "loose") return looseName(members);
	if (given === undefined) throw field("name", "Field required", members);
	if (typeof given !== "string") throw field("name", "Input should be a valid string", given);
	const name = given.trim();
	const length = Array.from(name).length;
	if (length === 0) throw field("name", "String should have at least 1 character", given);
	if (length > datasetNameLimit)
		throw field("name", `String should have at most ${datasetNameLimit} characters`, given);
	// SQLite ends text there; what the server does is not known.
	if (name.includes("\0")) throw field("name", "Input should be a valid string", given);
	return name;
}

function looseName(members: { readonly [name: string]: unknown }): string {
	const given = members["name"];
	if (given === undefined) throw new Failure(Code.data, "`name` is not empty!");
	if (typeof given !== "string") throw exception("AttributeError(\"object has no attribute 'strip'\")");
	const name = given.trim();
	if (name === "" || name.includes("\0")) throw new Failure(Code.data, "`name` is not empty string!");
	// So 128 are one too many there.
	if (Array.from(name).length >= datasetNameLimit)
		throw new Failure(Code.data, `Dataset name should not be longer than ${datasetNameLimit} characters.`);
	return name;
}

/**
 * An id as 32 digits in small letters, or why it is none. Ids of the server are UUIDs of version 1, and those of the
 * sandbox look so; the dataset of `--documents` has an id that can be foretold, and is let through.
 */
export function uuidOf(text: string, { datasets }: Release): { readonly id: string } | { readonly why: string } {
	const digits = text
		.replaceAll("urn:", "")
		.replaceAll("uuid:", "")
		.replace(/^[{}]+|[{}]+$/g, "")
		.replaceAll("-", "");
	const id = digits.toLowerCase();
	const isUuid = /^[\da-f]{32}$/.test(id);
	if (datasets.ids === "uuid") return isUuid ? { id } : { why: "Invalid UUID format" };
	if (!isUuid) return { why: "Invalid UUID1 format" };
	if (id === filledDatasetId || /^.{12}1.{3}[89ab]/.test(id)) return { id };
	return { why: "Must be a UUID1 format" };
}

const listed: ReadonlySet<string> = new Set(["id", "name", "page", "page_size", "orderby", "desc"]);
const yes: ReadonlySet<string> = new Set(["1", "true", "t", "yes", "y", "on"]);
const no: ReadonlySet<string> = new Set(["0", "false", "f", "no", "n", "off"]);

export type ListQuery = {
	readonly id?: string;
	readonly name?: string;
	readonly window: Window;
	readonly descending: boolean;
};

/** What a list of datasets is asked for: `ListDatasetReq` in api/utils/validation_utils.py, all faults at once. */
export function listQuery(query: URLSearchParams, release: Release): ListQuery {
	if (release.datasets.checks === "loose") return looseQuery(query);
	const faults: string[] = [];
	const fault = (name: string, why: string): void => void faults.push(fieldText(name, why, query.get(name) ?? ""));
	const number = (name: string, otherwise: number): number => {
		const text = query.get(name);
		if (text === null) return otherwise;
		if (!/^\s*[+-]?\d+(?:\.0*)?\s*$/.test(text)) {
			fault(name, "Input should be a valid integer, unable to parse string as an integer");
			return otherwise;
		}
		if (Number(text) < 1) fault(name, "Input should be greater than or equal to 1");
		return Number(text);
	};
	const given = query.get("id");
	const uuid = given === null ? undefined : uuidOf(given, release);
	if (uuid !== undefined && "why" in uuid) fault("id", uuid.why);
	const [page, limit] = [number("page", 1), number("page_size", defaultPageSize)];
	const { largestPage } = release.list;
	if (largestPage !== undefined && limit > largestPage)
		fault("page_size", `Value error, page_size must be less than or equal to ${largestPage}`);
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time") fault("orderby", "Input should be 'create_time' or 'update_time'");
	const desc = (query.get("desc") ?? "true").toLowerCase();
	if (!yes.has(desc) && !no.has(desc)) fault("desc", "Input should be a valid boolean, unable to interpret input");
	for (const name of new Set(query.keys())) if (!listed.has(name)) fault(name, "Extra inputs are not permitted");
	if (faults.length > 0) throw argument(faults.join("\n"));
	const name = query.get("name") ?? "";
	return {
		...(uuid !== undefined && "id" in uuid ? { id: uuid.id } : {}),
		...(name === "" ? {} : { name }),
		window: { limit, offset: (page - 1) * limit },
		descending: yes.has(desc),
	};
}

/** v0.18: unknown parameters are nothing to it. */
function looseQuery(query: URLSearchParams): ListQuery {
	const [id, name] = [query.get("id") ?? "", query.get("name") ?? ""];
	const [page, limit] = [wholeOf(query, "page", 1), wholeOf(query, "page_size", defaultPageSize)];
	const desc = (query.get("desc") ?? "true").toLowerCase();
	if (desc !== "true" && desc !== "false") throw new Failure(Code.data, "desc should be true or false");
	return {
		...(id === "" ? {} : { id }),
		...(name === "" ? {} : { name }),
		window: { limit: Math.max(limit, 0), offset: Math.max(page - 1, 0) * limit },
		descending: desc === "true",
	};
}
