import { type Answer, type Answers, type Rule, ruleOf } from "./rule.ts";

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
	"0.18": `102 You don't own the document ${what}.`,
	"0.27": `102 you don't own the document ${what}`,
	"1.0": { code: 102, message: `you don't own the document ${what}`, data: emptyList },
});

const lists = (rule: string, query: Record<string, string>, answers: Answers | Answer | string): Rule =>
	ruleOf(rule, all, answers, { query });

/** No document has that key. */
const impossible = { logic: "and", conditions: [{ name: "absent", comparison_operator: "is", value: "x" }] };

const wrong = (what: string) => `ValueError("invalid literal for int() with base 10: '${what}'")`;
const syntax = "100 1064";

/** GET /datasets/<dataset_id>/documents, by v0.21.1's public tests (test_list_documents.py) and the code of all releases. */
export const listRules: readonly Rule[] = [
	ruleOf("everything, newest first", all, everything),
	lists("the members that a client reads", { id: "$0" }, { "0.18": shown, "0.25": { ...shown, message: "success" } }),
	ruleOf("a path without the dataset is a path of another route", "GET /api/v1/datasets//documents", {
		"0.18": "100 <MethodNotAllowed '405: Method Not Allowed'>",
		"0.26": "102",
	}),
	ruleOf("a missing dataset", "GET /api/v1/datasets/invalid_dataset_id/documents", {
		"0.18": "102 You don't own the dataset invalid_dataset_id. ",
		"1.0": { code: 102, part: "You don't own the dataset invalid_dataset_id.\"" },
	}),
	lists("page 1 without page", { page_size: "2" }, found(3, ["2.txt", "1.txt"])),
	lists(
		"page 0 means page 1, later all documents, then page 1 again",
		{ page: "0", page_size: "2" },
		{ "0.18": found(3, ["2.txt", "1.txt"]), "0.25": everything, "0.27": found(3, ["2.txt", "1.txt"]) },
	),
	lists("page 2", { page: "2", page_size: "2" }, found(3, ["0.txt"])),
	lists("a page after the last", { page: "9", page_size: "2" }, found(3, [])),
	lists("page -1", { page: "-1", page_size: "2" }, { "0.18": syntax, "0.27": found(3, ["2.txt", "1.txt"]) }),
	lists(
		"a page that is not a number",
		{ page: "a", page_size: "2" },
		{ "0.18": `100 ${wrong("a")}`, "0.27": found(3, ["2.txt", "1.txt"]) },
	),
	lists(
		"a size of 0 means no documents, later all, then thirty",
		{ page_size: "0" },
		{ "0.18": found(3, []), "0.25": everything },
	),
	lists("a size of 1", { page_size: "1" }, found(3, ["2.txt"])),
	lists("a size over the number of documents", { page_size: "6" }, everything),
	lists("a size of -1", { page_size: "-1" }, { "0.18": syntax, "0.27": everything }),
	lists("a size that is not a number", { page_size: "a" }, { "0.18": `100 ${wrong("a")}`, "0.27": everything }),
	lists(
		"a size over 100",
		{ page_size: "101" },
		{ "0.18": everything, "0.26": "100 ValueError('page_size must be less than or equal to 100')", "1.0": everything },
	),
	lists("by the time of creation", { orderby: "create_time" }, everything),
	lists("by the time of the last change", { orderby: "update_time" }, everything),
	lists("by name", { orderby: "name", desc: "False" }, found(3, oldest)),
	lists("by size", { orderby: "size" }, { "0.18": found(3), "0.27": "101 invalid orderby field: size" }),
	lists(
		"by an unknown column",
		{ orderby: "unknown" },
		{
			"0.18": `100 AttributeError("type object 'Document' has no attribute 'unknown'")`,
			"0.27": "101 invalid orderby field: unknown",
		},
	),
	lists("desc=True", { desc: "True" }, everything),
	lists("desc=False", { desc: "False" }, found(3, oldest)),
	lists("desc=false", { desc: "false" }, { "0.18": everything, "0.21": found(3, oldest) }),
	lists("desc=False by the time of the last change", { desc: "False", orderby: "update_time" }, found(3, oldest)),
	lists("desc that is neither true nor false", { desc: "unknown" }, everything),
	lists("empty keywords", { keywords: "" }, everything),
	lists("keywords in one name", { keywords: "0" }, found(1, ["0.txt"])),
	lists("keywords in all names, in the other case", { keywords: ".TXT" }, everything),
	lists("keywords in no name", { keywords: "unknown" }, found(0, [])),
	lists("a percent sign is a wildcard in v1.0", { keywords: "%" }, { "0.18": found(0, []), "1.0": everything }),
	lists(
		"an underscore is one in v1.0, and a backslash before it takes that from it",
		{ keywords: "_.t_t" },
		{ "0.18": found(0, []), "1.0": everything },
	),
	lists("a backslash before a percent sign", { keywords: "\\%" }, found(0, [])),
	lists("an empty name", { name: "" }, everything),
	lists("a name", { name: "0.txt" }, found(1, ["0.txt"])),
	lists("an unknown name", { name: "x.txt" }, notThere("x.txt")),
	lists("an empty id", { id: "" }, everything),
	lists("an id", { id: "$0" }, found(1, ["0.txt"])),
	lists("an unknown id", { id: "x" }, notThere("x")),
	lists("an id and its name", { id: "$0", name: "0.txt" }, found(1, ["0.txt"])),
	lists("an id and another name", { id: "$0", name: "1.txt" }, found(0, [])),
	lists("an id and an unknown name", { id: "$0", name: "unknown" }, notThere("unknown")),
	lists("an unknown id and a name", { id: "id", name: "0.txt" }, notThere("id")),
	ruleOf(
		"ids, in the order of the list, without what is not there",
		`${all}?desc=False&ids=$2&ids=unknown&ids=$0&ids=$2`,
		{ "0.18": found(3, oldest), "0.26": found(2, ["0.txt", "2.txt"]) },
	),
	ruleOf("101 ids", `${all}?desc=False${"&ids=$0".repeat(101)}`, {
		"0.18": found(3, oldest),
		"0.26": found(1, ["0.txt"]),
		"0.27": "101 ids must contain at most 100 IDs",
		"1.0": found(1, ["0.txt"]),
	}),
	ruleOf("one id beside several, which fails in Python", `${all}?id=$0&ids=$0`, {
		"0.18": found(1, ["0.txt"]),
		"0.26": "100",
		"1.0": { code: 102, data: emptyList },
	}),
	lists("an unknown parameter", { a: "b" }, everything),
	lists("a suffix that no file has", { suffix: "pdf" }, { "0.18": everything, "0.21": found(0, []) }),
	lists("a suffix that all files have, in the other case", { suffix: "TXT" }, everything),
	lists("run=DONE, which no document has", { run: "DONE" }, { "0.18": everything, "0.21": found(0, []) }),
	lists("run=UNSTART, which all documents have", { run: "UNSTART" }, everything),
	lists(
		"an unknown run",
		{ run: "x" },
		{
			"0.18": everything,
			"0.21": found(0, []),
			"0.25": "102 Invalid filter run status conditions: x",
			"1.0": { code: 102, message: "Invalid filter run status conditions: x", data: emptyList },
		},
	),
	lists("ten documents without a size, in v1.0", { page: "2" }, { "1.0": found(3, []) }),
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
	lists("an empty column is none in v1.0", { orderby: "" }, { "1.0": everything }),
	ruleOf(
		"v1.0 checks the column before the dataset",
		"GET /api/v1/datasets/invalid_dataset_id/documents?orderby=size",
		{ "1.0": "101 invalid orderby field: size" },
	),
	lists(
		"v1.0 refuses one id beside several",
		{ id: "$0", ids: "$1" },
		{ "1.0": { code: 102, message: "should not provide both 'id':$0 and 'ids'[$1]", data: emptyList } },
	),
	lists(
		"a filter by metadata, which v0.21 and v1.0 ignore",
		{ metadata_condition: JSON.stringify(impossible) },
		{ "0.18": everything, "0.23": found(0, []), "1.0": everything },
	),
	lists("a filter by metadata that is not JSON", { metadata_condition: "{" }, { "0.23": "102 must be valid JSON" }),
	lists("one that is a list", { metadata_condition: "[1]" }, { "0.23": "102 metadata_condition must be an object." }),
	lists(
		"a condition without an operator",
		{ metadata_condition: '{"conditions":[{"name":"a","value":1}]}' },
		{ "0.18": everything, "0.23": "100 KeyError('comparison_operator')", "1.0": everything },
	),
	...["null", "[]", '"a"'].map((condition): Rule => ({
		rule: `v1.0 reads that filter: ${condition}`,
		send: all,
		query: { metadata_condition: condition },
		answers: { "1.0": { code: 102, message: "metadata_condition must be an object.", data: emptyList } },
	})),
	lists(
		"v1.0 reads that filter, and it is not JSON",
		{ metadata_condition: "{a}" },
		{ "1.0": { code: 102, message: "metadata_condition must be valid JSON: {a}.", data: emptyList } },
	),
	ruleOf("v1.0 names how a document is parsed by two members", all, {
		"1.0": { code: 0, data: { docs: [{ parser_id: "naive", chunk_method: "naive" }, {}, {}] } },
	}),
	ruleOf("v1.0 knows no other verb of that path", "PUT /api/v1/datasets/$D/documents", {
		"1.0": {
			status: 404,
			code: 404,
			body: '{"code":404,"data":null,"error":"Not Found","message":"Not Found: /api/v1/datasets/$D/documents"}',
		},
	}),
	lists(
		"documents from a later time on: the page is empty, and the total stays",
		{ create_time_from: "99999999999999" },
		{ "0.18": everything, "0.21": found(3, []) },
	),
	lists("documents up to an earlier time", { create_time_to: "1" }, { "0.18": everything, "0.21": found(3, []) }),
	lists(
		"a time that is not a number",
		{ create_time_from: "x" },
		{
			"0.18": everything,
			"0.21": `100 ${wrong("x")}`,
			"1.0": { code: 102, message: "create_time_from must be an integer", data: emptyList },
		},
	),
];
