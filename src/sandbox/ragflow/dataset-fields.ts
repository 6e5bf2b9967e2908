import type { Release } from "../flavours/release.ts";
import { datasetNameLimit } from "../store/datasets.ts";
import { defaultPageSize } from "../store/pages.ts";
import { type ListQuery, uuidOf } from "./dataset-query.ts";
import { Code, exception, Failure } from "./failure.ts";
import { firstFaultName, firstFaultQuery } from "./first-fault.ts";
import { wholeOf } from "./list-query.ts";
import { argumentError, fieldError, fieldText, type Members } from "./request.ts";

/** The name of a dataset without blanks around it. Errors are in pydantic's words, or v0.18's (api/apps/sdk/dataset.py). */
export function datasetName(members: Members, release: Release, of: "new" | "changed"): string {
	const { name: sent } = members;
	if (release.datasets.checks === "first-fault") return firstFaultName(members, of);
	if (release.datasets.checks === "loose") return looseName(sent);
	if (sent === undefined) throw fieldError("name", "Field required", members);
	if (typeof sent !== "string") throw fieldError("name", "Input should be a valid string", sent);
	const name = sent.trim();
	const length = Array.from(name).length;
	if (length === 0) throw fieldError("name", "String should have at least 1 character", sent);
	if (length > datasetNameLimit)
		throw fieldError("name", `String should have at most ${datasetNameLimit} characters`, sent);
	// SQLite returns text only up to a NUL. The server's treatment of one is not known.
	if (name.includes("\0")) throw fieldError("name", "Input should be a valid string", sent);
	return name;
}

function looseName(sent: unknown): string {
	if (sent === undefined) throw new Failure(Code.data, "`name` is not empty!");
	if (typeof sent !== "string") throw exception("AttributeError(\"object has no attribute 'strip'\")");
	const name = sent.trim();
	if (name === "" || name.includes("\0")) throw new Failure(Code.data, "`name` is not empty string!");
	// v0.18 refuses 128 characters, too.
	if (Array.from(name).length >= datasetNameLimit)
		throw new Failure(Code.data, `Dataset name should not be longer than ${datasetNameLimit} characters.`);
	return name;
}

const knownParameters: ReadonlySet<string> = new Set(["id", "name", "page", "page_size", "orderby", "desc"]);
const trueWords: ReadonlySet<string> = new Set(["1", "true", "t", "yes", "y", "on"]);
const falseWords: ReadonlySet<string> = new Set(["0", "false", "f", "no", "n", "off"]);

/** The query of a list of datasets: `ListDatasetReq` in api/utils/validation_utils.py, which reports all errors at once. */
export function listQuery(query: URLSearchParams, release: Release): ListQuery {
	if (release.datasets.checks === "loose") return looseQuery(query);
	if (release.datasets.checks === "first-fault") return firstFaultQuery(query, release, defaultPageSize);
	const errors: string[] = [];
	const addError = (name: string, why: string): void => void errors.push(fieldText(name, why, query.get(name) ?? ""));
	const numberOf = (name: string, absent: number): number => {
		const text = query.get(name);
		if (text === null) return absent;
		if (!/^\s*[+-]?\d+(?:\.0*)?\s*$/.test(text)) {
			addError(name, "Input should be a valid integer, unable to parse string as an integer");
			return absent;
		}
		if (Number(text) < 1) addError(name, "Input should be greater than or equal to 1");
		return Number(text);
	};
	const sentId = query.get("id");
	const uuid = sentId === null ? undefined : uuidOf(sentId, release);
	if (uuid !== undefined && "why" in uuid) addError("id", uuid.why);
	const [page, limit] = [numberOf("page", 1), numberOf("page_size", defaultPageSize)];
	const { maxPageSize } = release.list;
	if (maxPageSize !== undefined && limit > maxPageSize)
		addError("page_size", `Value error, page_size must be less than or equal to ${maxPageSize}`);
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time")
		addError("orderby", "Input should be 'create_time' or 'update_time'");
	const desc = (query.get("desc") ?? "true").toLowerCase();
	if (!trueWords.has(desc) && !falseWords.has(desc))
		addError("desc", "Input should be a valid boolean, unable to interpret input");
	for (const name of new Set(query.keys()))
		if (!knownParameters.has(name)) addError(name, "Extra inputs are not permitted");
	if (errors.length > 0) throw argumentError(errors.join("\n"));
	const name = query.get("name") ?? "";
	return {
		...(uuid !== undefined && "id" in uuid ? { id: uuid.id } : {}),
		...(name === "" ? {} : { name }),
		window: { limit, offset: (page - 1) * limit },
		descending: trueWords.has(desc),
	};
}

/** v0.18 ignores unknown parameters. */
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
