import type { Answer, Rule } from "./rule.ts";

const all = "GET /api/v1/datasets/$D/documents";
const found = (total: number, names?: readonly string[]): Answer => ({
	code: 0,
	data: { total, ...(names === undefined ? {} : { docs: names.map((name) => ({ name })) }) },
});

const newest = ["2.txt", "1.txt", "0.txt"];
const oldest = newest.toReversed();
const everything = found(3, newest);
const notThere = (what: string) => ({
	"0.18": { code: 102, message: `You don't own the document ${what}.` },
	"0.27": { code: 102, message: `you don't own the document ${what}` },
});

/** A rule with the same answer in every release. */
const lists = (rule: string, query: Record<string, string>, answer: Answer): Rule => ({
	rule,
	send: all,
	query,
	answers: { "0.18": answer },
});

const wrong = (what: string) => `ValueError("invalid literal for int() with base 10: '${what}'")`;
const syntax = { code: 100, message: "1064" };

/** GET /datasets/<dataset_id>/documents, by v0.21.1's public tests (test_list_documents.py) and the code of all releases. */
export const listRules: readonly Rule[] = [
	{ rule: "everything, newest first", send: all, answers: { "0.18": everything } },
	{
		rule: "a path without the dataset is a path of another route",
		send: "GET /api/v1/datasets//documents",
		answers: { "0.18": { code: 100, message: "<MethodNotAllowed '405: Method Not Allowed'>" }, "0.26": { code: 102 } },
	},
	{
		rule: "a missing dataset",
		send: "GET /api/v1/datasets/invalid_dataset_id/documents",
		answers: { "0.18": { code: 102, message: "You don't own the dataset invalid_dataset_id. " } },
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
	lists("a percent sign is not a wildcard", { keywords: "%" }, found(0, [])),
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
		answers: { "0.18": everything, "0.21": { code: 100, message: wrong("x") } },
	},
];
