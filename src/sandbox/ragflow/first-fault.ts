import type { Release } from "../flavours/release.ts";
import { datasetNameLimit } from "../store/datasets.ts";
import { type ListQuery, uuidOf } from "./dataset-query.ts";
import { Code, Failure } from "./failure.ts";
import { goTrim, unfitMember } from "./go-json.ts";
import type { Members } from "./request.ts";

/** How v1.0 checks requests about datasets: it reports the first fault alone, in plain words (`internal/` of the server). */

const knownParameters: ReadonlySet<string> = new Set(
	"id ids name page page_size orderby desc include_parsing_status ext type".split(" "),
);
const trueWords: ReadonlySet<string> = new Set(["true", "1", "yes", "y", "on"]);
const falseWords: ReadonlySet<string> = new Set(["false", "0", "no", "n", "off"]);

/** `ListDatasets` in handler/dataset.go:73-229 */
export function firstFaultQuery(query: URLSearchParams, release: Release, defaultPageSize: number): ListQuery {
	refuseFirst([...query.keys()], knownParameters);
	const [page, limit] = [wholeFromOne(query, "page", 1), wholeFromOne(query, "page_size", defaultPageSize)];
	const by = query.get("orderby") ?? "create_time";
	if (by !== "create_time" && by !== "update_time") throw fault("Input should be 'create_time' or 'update_time'");
	const desc = (query.get("desc") ?? "").toLowerCase();
	if (desc !== "" && !trueWords.has(desc) && !falseWords.has(desc))
		throw fault("Input should be a valid boolean, unable to interpret input");
	const id = query.get("id");
	const name = goTrim(query.get("name") ?? "");
	return {
		...(id === null ? {} : { id: validId(goTrim(id), release) }),
		...(name === "" ? {} : { name }),
		window: { limit, offset: (page - 1) * limit },
		descending: !falseWords.has(desc),
	};
}

function wholeFromOne(query: URLSearchParams, name: string, absent: number): number {
	const text = query.get(name) ?? "";
	if (text === "") return absent;
	if (!/^[+-]?\d+$/.test(text)) throw fault("Input should be a valid integer, unable to parse string as an integer");
	if (Number(text) < 1) throw fault("Input should be greater than or equal to 1");
	return Number(text);
}

/** `CreateDataset` in handler/dataset.go:232 and service/dataset/crud.go:19; `UpdateDataset` in service/dataset/update.go:65 */
export function firstFaultName({ name: sent = null }: Members, of: "new" | "changed"): string {
	if (sent !== null && typeof sent !== "string") throw unfitMember("name", sent, "string");
	if (of === "new" && (sent ?? "") === "")
		throw new Failure(Code.data, "Field validation for 'name' failed on the 'required' tag", { data: "null" });
	const name = goTrim(sent ?? "");
	const bytes = Buffer.byteLength(name);
	// SQLite returns text only up to a NUL. The server's treatment of one is not known.
	if (name === "" || name.includes("\0"))
		throw new Failure(
			Code.data,
			of === "new" ? "dataset name can't be empty" : "String should have at least 1 character",
		);
	if (bytes <= datasetNameLimit) return name;
	const why = of === "new" ? `Dataset name length is ${bytes} which is large than` : "String should have at most";
	throw new Failure(Code.data, `${why} ${datasetNameLimit}${of === "new" ? "" : " characters"}`);
}

/** The ids of a removal, and whether it is of all: `ids *[]string` and `delete_all bool` in handler/dataset.go:597. */
export function idsToRemove({ ids: sent = null, delete_all: all = null }: Members): {
	readonly ids: readonly string[];
	readonly all: boolean;
} {
	if (sent !== null && !Array.isArray(sent)) throw unfitMember("ids", sent, "[]string");
	const ids = (sent ?? []).map((id: unknown) => {
		if (id === null) return "";
		if (typeof id !== "string") throw unfitMember("ids", id, "string");
		return id;
	});
	if (all !== null && typeof all !== "boolean") throw unfitMember("delete_all", all, "bool");
	const repeated = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
	if (repeated.length > 0) throw fault(`Duplicate ids: '${repeated.join(", ")}'`);
	return { ids, all: all === true };
}

export function validId(id: string, release: Release): string {
	const uuid = uuidOf(id, release);
	if ("why" in uuid) throw fault(uuid.why);
	return uuid.id;
}

export function refuseFirst(names: readonly string[], known: ReadonlySet<string>): void {
	const unknown = names.find((name) => !known.has(name));
	if (unknown !== undefined) throw fault(`Extra inputs are not permitted: ${unknown}`);
}

function fault(message: string): Failure {
	return new Failure(Code.argument, message, { data: "null" });
}
