import type { Answer, Rule } from "./rule.ts";

const all = "GET /api/v1/datasets/$D/documents";
const found = (total: number, names?: readonly string[]): Answer => ({
	code: 0,
	data: { total, ...(names === undefined ? {} : { docs: names.map((name) => ({ name })) }) },
});

/** What v1.0 has beside a refusal. */
const emptyList = { docs: [], total: 0 };

const newest = ["2.txt", "1.txt", "0.txt"];
const oldest = newest.toReversed();
const everything = found(3, newest);
const shown: Answer = {
	code: 0,
	part: '"create_time":1',
	data: { total: 1, docs: [{ id: "$0", dataset_id: "$D", name: "0.txt", size: 5, run: "UNSTART", meta_fields: {} }] },
};
const notThere = (what: string) => ({
	"0.18": { code: 102, message: `You don't own the document ${what}.` },
	"0.27": { code: 102, message: `you don't own the document ${what}` },
	"1.0": { code: 102, message: `you don't own the document ${what}`, data: emptyList },
});

/** A rule with the same answer in every release. */
const lists = (rule: string, query: Record<string, string>, answer: Answer): Rule => ({
	rule,
	send: all,
	query,
	answers: { "0.18": answer },
});

/** No document has that key. */
const impossible = { logic: "and", conditions: [{ name: "absent", comparison_operator: "is", value: "x" }] };

const wrong = (what: string) => `ValueError("invalid literal for int() with base 10: '${what}'")`;
const syntax = { code: 100, message: "1064" };

/** GET /datasets/<dataset_id>/documents, by v0.21.1's public tests (test_list_documents.py) and the code of all releases. */
export const listRules: readonly Rule[] = [
	{ rule: "everything, newest first", send: all, answers: { "0.18": everything } },
	{
		rule: "the members that a client reads",
		send: all,
		query: { id: "$0" },
		answers: { "0.18": shown, "0.25": { ...shown, message: "success" } },
	},
	{
		rule: "a path without the dataset is a path of another route",
		send: "GET /api/v1/datasets//documents",
		answers: { "0.18": { code: 100, message: "<MethodNotAllowed '405: Method Not Allowed'>" }, "0.26": { code: 102 } },
	},
	{
		rule: "a missing dataset",
		send: "GET /api/v1/datasets/invalid_dataset_id/documents",
		answers: {
			"0.18": { code: 102, message: "You don't own the dataset invalid_dataset_id. " },
			"1.0": { code: 102, part: "You don't own the dataset invalid_dataset_id.\"" },
		},
	},
	lists("page 1 without page", { page_size: "2" }, found(3, ["2.txt", "1.txt"])),
	{
		rule: "page 0 means page 1, later all documents, then page 1 again",
		send: all,
		query: { page: "0", page_size: "2" },
		answers: { "0.18": found(3, ["2.txt", "1.txt"]), "0.25": everything, "0.27": found(3, ["2.txt", "1.txt"]) },
	},
	lists("page 2", { page: "2", page_size: "2" }, found(3, ["0.txt"])),
	lists("a page after the last", { page: "9", page_size: "2" }, found(3, [])),
	{
		rule: "page -1",
		send: all,
		query: { page: "-1", page_size: "2" },
		answers: { "0.18": syntax, "0.27": found(3, ["2.txt", "1.txt"]) },
	},
	{
		rule: "a page that is not a number",
		send: all,
		query: { page: "a", page_size: "2" },
		answers: { "0.18": { code: 100, message: wrong("a") }, "0.27": found(3, ["2.txt", "1.txt"]) },
	},
	{
		rule: "a size of 0 means no documents, later all, then thirty",
		send: all,
		query: { page_size: "0" },
		answers: { "0.18": found(3, []), "0.25": everything },
	},
	lists("a size of 1", { page_size: "1" }, found(3, ["2.txt"])),
	lists("a size over the number of documents", { page_size: "6" }, everything),
	{
		rule: "a size of -1",
		send: all,
		query: { page_size: "-1" },
		answers: { "0.18": syntax, "0.27": everything },
	},
	{
		rule: "a size that is not a number",
		send: all,
		query: { page_size: "a" },
		answers: { "0.18": { code: 100, message: wrong("a") }, "0.27": everything },
	},
	{
		rule: "a size over 100",
		send: all,
		query: { page_size: "101" },
		answers: {
			"0.18": everything,
			"0.26": { code: 100, message: "ValueError('page_size must be less than or equal to 100')" },
			"1.0": everything,
		},
	},
	lists("by the time of creation", { orderby: "create_time" }, everything),
	lists("by the time of the last change", { orderby: "update_time" }, everything),
	lists("by name", { orderby: "name", desc: "False" }, found(3, oldest)),
	{
		rule: "by size",
		send: all,
		query: { orderby: "size" },
		answers: { "0.18": found(3), "0.27": { code: 101, message: "invalid orderby field: size" } },
	},
	{
		rule: "by an unknown column",
		send: all,
		query: { orderby: "unknown" },
		answers: {
			"0.18": { code: 100, message: `AttributeError("type object 'Document' has no attribute 'unknown'")` },
			"0.27": { code: 101, message: "invalid orderby field: unknown" },
		},
	},
	lists("desc=True", { desc: "True" }, everything),
	lists("desc=False", { desc: "False" }, found(3, oldest)),
	{
		rule: "desc=false",
		send: all,
		query: { desc: "false" },
		answers: { "0.18": everything, "0.21": found(3, oldest) },
	},
	lists("desc=False by the time of the last change", { desc: "False", orderby: "update_time" }, found(3, oldest)),
	lists("desc that is neither true nor false", { desc: "unknown" }, everything),
	lists("empty keywords", { keywords: "" }, everything),
	lists("keywords in one name", { keywords: "0" }, found(1, ["0.txt"])),
	lists("keywords in all names, in the other case", { keywords: ".TXT" }, everything),
	lists("keywords in no name", { keywords: "unknown" }, found(0, [])),
	{
		rule: "a percent sign is a wildcard in v1.0",
		send: all,
		query: { keywords: "%" },
		answers: { "0.18": found(0, []), "1.0": everything },
	},
	{
		rule: "an underscore is one in v1.0, and a backslash before it takes that from it",
		send: all,
		query: { keywords: "_.t_t" },
		answers: { "0.18": found(0, []), "1.0": everything },
	},
	lists("a backslash before a percent sign", { keywords: "\\%" }, found(0, [])),
	lists("an empty name", { name: "" }, everything),
	lists("a name", { name: "0.txt" }, found(1, ["0.txt"])),
	{ rule: "an unknown name", send: all, query: { name: "x.txt" }, answers: notThere("x.txt") },
	lists("an empty id", { id: "" }, everything),
	lists("an id", { id: "$0" }, found(1, ["0.txt"])),
	{ rule: "an unknown id", send: all, query: { id: "x" }, answers: notThere("x") },
	lists("an id and its name", { id: "$0", name: "0.txt" }, found(1, ["0.txt"])),
	lists("an id and another name", { id: "$0", name: "1.txt" }, found(0, [])),
	{
		rule: "an id and an unknown name",
		send: all,
		query: { id: "$0", name: "unknown" },
		answers: notThere("unknown"),
	},
	{
		rule: "an unknown id and a name",
		send: all,
		query: { id: "id", name: "0.txt" },
		answers: notThere("id"),
	},
	{
		rule: "ids, in the order of the list, without what is not there",
		send: `${all}?desc=False&ids=$2&ids=unknown&ids=$0&ids=$2`,
		answers: { "0.18": found(3, oldest), "0.26": found(2, ["0.txt", "2.txt"]) },
	},
	{
		rule: "101 ids",
		send: `${all}?desc=False${"&ids=$0".repeat(101)}`,
		answers: {
			"0.18": found(3, oldest),
			"0.26": found(1, ["0.txt"]),
			"0.27": { code: 101, message: "ids must contain at most 100 IDs" },
			"1.0": found(1, ["0.txt"]),
		},
	},
	{
		rule: "one id beside several, which fails in Python",
		send: `${all}?id=$0&ids=$0`,
		answers: { "0.18": found(1, ["0.txt"]), "0.26": { code: 100 }, "1.0": { code: 102, data: emptyList } },
	},
	lists("an unknown parameter", { a: "b" }, everything),
	{
		rule: "a suffix that no file has",
		send: all,
		query: { suffix: "pdf" },
		answers: { "0.18": everything, "0.21": found(0, []) },
	},
	lists("a suffix that all files have, in the other case", { suffix: "TXT" }, everything),
	{
		rule: "run=DONE, which no document has",
		send: all,
		query: { run: "DONE" },
		answers: { "0.18": everything, "0.21": found(0, []) },
	},
	lists("run=UNSTART, which all documents have", { run: "UNSTART" }, everything),
	{
		rule: "an unknown run",
		send: all,
		query: { run: "x" },
		answers: {
			"0.18": everything,
			"0.21": found(0, []),
			"0.25": { code: 102, message: "Invalid filter run status conditions: x" },
			"1.0": { code: 102, message: "Invalid filter run status conditions: x", data: emptyList },
		},
	},
	{
		rule: "ten documents without a size, in v1.0",
		send: all,
		query: { page: "2" },
		answers: { "1.0": found(3, []) },
	},
	...[
		{ run: "done" },
		{ run_status: "DONE" },
		{ types: "none such" },
		{ metadata: '{"author":"nobody"}' },
		{ metadata_condition: "", run: "fail" },
	].map((query): Rule => ({
		rule: `v1.0 filters by ${JSON.stringify(query)}`,
		send: all,
		query,
		answers: { "1.0": found(0, []) },
	})),
	...[{ run: "unstart" }, { return_empty_metadata: "true" }, { metadata_condition: " " }].map((query): Rule => ({
		rule: `v1.0 lists all by ${JSON.stringify(query)}`,
		send: all,
		query,
		answers: { "1.0": everything },
	})),
	{ rule: "an empty column is none in v1.0", send: all, query: { orderby: "" }, answers: { "1.0": everything } },
	{
		rule: "v1.0 checks the column before the dataset",
		send: "GET /api/v1/datasets/invalid_dataset_id/documents",
		query: { orderby: "size" },
		answers: { "1.0": { code: 101, message: "invalid orderby field: size" } },
	},
	{
		rule: "v1.0 refuses one id beside several",
		send: all,
		query: { id: "$0", ids: "$1" },
		answers: { "1.0": { code: 102, message: "should not provide both 'id':$0 and 'ids'[$1]", data: emptyList } },
	},
	{
		rule: "v1.0 ignores a filter by metadata, and lists every document",
		send: all,
		query: { metadata_condition: JSON.stringify(impossible) },
		answers: { "0.23": found(0, []), "1.0": everything },
	},
	...["null", "[]", '"a"'].map((condition): Rule => ({
		rule: `v1.0 reads that filter: ${condition}`,
		send: all,
		query: { metadata_condition: condition },
		answers: { "1.0": { code: 102, message: "metadata_condition must be an object.", data: emptyList } },
	})),
	{
		rule: "v1.0 reads that filter, and it is not JSON",
		send: all,
		query: { metadata_condition: "{a}" },
		answers: { "1.0": { code: 102, message: "metadata_condition must be valid JSON: {a}.", data: emptyList } },
	},
	{
		rule: "v1.0 names how a document is parsed by two members",
		send: all,
		answers: { "1.0": { code: 0, data: { docs: [{ parser_id: "naive", chunk_method: "naive" }, {}, {}] } } },
	},
	{
		rule: "v1.0 knows no other verb of that path",
		send: "PUT /api/v1/datasets/$D/documents",
		answers: {
			"1.0": {
				status: 404,
				code: 404,
				body: '{"code":404,"data":null,"error":"Not Found","message":"Not Found: /api/v1/datasets/$D/documents"}',
			},
		},
	},
	{
		rule: "documents from a later time on: the page is empty, and the total stays",
		send: all,
		query: { create_time_from: "99999999999999" },
		answers: { "0.18": everything, "0.21": found(3, []) },
	},
	{
		rule: "documents up to an earlier time",
		send: all,
		query: { create_time_to: "1" },
		answers: { "0.18": everything, "0.21": found(3, []) },
	},
	{
		rule: "a time that is not a number",
		send: all,
		query: { create_time_from: "x" },
		answers: {
			"0.18": everything,
			"0.21": { code: 100, message: wrong("x") },
			"1.0": { code: 102, message: "create_time_from must be an integer", data: emptyList },
		},
	},
];
