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

/** One that lists so in every release. */
const lists = (rule: string, query: Record<string, string>, answer: Answer): Rule => ({
	rule,
	send: all,
	query,
	answers: { "0.18": answer },
});

const wrong = (what: string) => `ValueError("invalid literal for int() with base 10: '${what}'")`;
const syntax = { code: 100, message: "1064" };

/** GET /datasets/<dataset_id>/documents, by the public tests of v0.21.1 (test_list_documents.py) and the code of all. */
export const listRules: readonly Rule[] = [
	{ rule: "everything, newest first", send: all, answers: { "0.18": everything } },
	{
		rule: "the dataset left out is a path of another route",
		send: "GET /api/v1/datasets//documents",
		answers: { "0.18": { code: 100, message: "<MethodNotAllowed '405: Method Not Allowed'>" }, "0.26": { code: 102 } },
	},
	{
		rule: "a dataset that is not there",
		send: "GET /api/v1/datasets/invalid_dataset_id/documents",
		answers: { "0.18": { code: 102, message: "You don't own the dataset invalid_dataset_id. " } },
	},
	lists("page 1 without a number of it", { page_size: "2" }, found(3, ["2.txt", "1.txt"])),
	{
		rule: "page 0 is page 1, then all, then page 1 again",
		send: all,
		query: { page: "0", page_size: "2" },
		answers: { "0.18": found(3, ["2.txt", "1.txt"]), "0.25": everything, "0.27": found(3, ["2.txt", "1.txt"]) },
	},
	lists("page 2, as many times as it is written", { page: "2", page_size: "2" }, found(3, ["0.txt"])),
	lists("a page after the last", { page: "9", page_size: "2" }, found(3, [])),
	{
		rule: "page -1",
		send: all,
		query: { page: "-1", page_size: "2" },
		answers: { "0.18": syntax, "0.27": found(3, ["2.txt", "1.txt"]) },
	},
	{
		rule: "a page that is no number",
		send: all,
		query: { page: "a", page_size: "2" },
		answers: { "0.18": { code: 100, message: wrong("a") }, "0.27": found(3, ["2.txt", "1.txt"]) },
	},
	{
		rule: "a size of 0 is a page of nothing, then of all, then of thirty",
		send: all,
		query: { page_size: "0" },
		answers: { "0.18": found(3, []), "0.25": everything },
	},
	lists("a size of 1", { page_size: "1" }, found(3, ["2.txt"])),
	lists("a size over the number of documents, or none", { page_size: "6" }, everything),
	{
		rule: "a size of -1",
		send: all,
		query: { page_size: "-1" },
		answers: { "0.18": syntax, "0.27": everything },
	},
	{
		rule: "a size that is no number",
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
	lists("by the time of creation, also unsaid", { orderby: "create_time" }, everything),
	lists("by the time of change", { orderby: "update_time" }, everything),
	lists("by name", { orderby: "name", desc: "False" }, found(3, oldest)),
	{
		rule: "by size",
		send: all,
		query: { orderby: "size" },
		answers: { "0.18": found(3), "0.27": { code: 101, message: "invalid orderby field: size" } },
	},
	{
		rule: "by a column that is none",
		send: all,
		query: { orderby: "unknown" },
		answers: {
			"0.18": { code: 100, message: `AttributeError("type object 'Document' has no attribute 'unknown'")` },
			"0.27": { code: 101, message: "invalid orderby field: unknown" },
		},
	},
	lists("desc=true, True, or unsaid", { desc: "True" }, everything),
	lists("desc=False", { desc: "False" }, found(3, oldest)),
	{
		rule: "desc=false",
		send: all,
		query: { desc: "false" },
		answers: { "0.18": everything, "0.21": found(3, oldest) },
	},
	lists("desc=False by the time of change", { desc: "False", orderby: "update_time" }, found(3, oldest)),
	lists("desc that is neither", { desc: "unknown" }, everything),
	lists("keywords of none, or empty", { keywords: "" }, everything),
	lists("keywords of one", { keywords: "0" }, found(1, ["0.txt"])),
	lists("keywords of all, in other letters", { keywords: ".TXT" }, everything),
	lists("keywords of none", { keywords: "unknown" }, found(0, [])),
	lists("a percent sign is no wildcard", { keywords: "%" }, found(0, [])),
	lists("no name, or an empty one", { name: "" }, everything),
	lists("a name", { name: "0.txt" }, found(1, ["0.txt"])),
	{ rule: "a name that is not there", send: all, query: { name: "x.txt" }, answers: notThere("x.txt") },
	lists("no id, or an empty one", { id: "" }, everything),
	lists("an id", { id: "$0" }, found(1, ["0.txt"])),
	{ rule: "an id that is not there", send: all, query: { id: "x" }, answers: notThere("x") },
	lists("an id and its name", { id: "$0", name: "0.txt" }, found(1, ["0.txt"])),
	lists("an id and another name", { id: "$0", name: "1.txt" }, found(0, [])),
	{
		rule: "an id and a name that is not there",
		send: all,
		query: { id: "$0", name: "unknown" },
		answers: notThere("unknown"),
	},
	{
		rule: "an id that is not there and a name",
		send: all,
		query: { id: "id", name: "0.txt" },
		answers: notThere("id"),
	},
	lists("a parameter that it does not know", { a: "b" }, everything),
	{
		rule: "an ending that no file has",
		send: all,
		query: { suffix: "pdf" },
		answers: { "0.18": everything, "0.21": found(0, []) },
	},
	lists("an ending that all have", { suffix: "TXT" }, everything),
	{
		rule: "documents that are done, of which there are none",
		send: all,
		query: { run: "DONE" },
		answers: { "0.18": everything, "0.21": found(0, []) },
	},
	lists("documents that were not begun", { run: "UNSTART" }, everything),
	{
		rule: "a state that is none",
		send: all,
		query: { run: "x" },
		answers: {
			"0.18": everything,
			"0.21": found(0, []),
			"0.25": { code: 102, message: "Invalid filter run status conditions: x" },
		},
	},
	{
		rule: "documents of times to come: the page is empty, and the total as it was",
		send: all,
		query: { create_time_from: "99999999999999" },
		answers: { "0.18": everything, "0.21": found(3, []) },
	},
	{
		rule: "documents up to a time before them",
		send: all,
		query: { create_time_to: "1" },
		answers: { "0.18": everything, "0.21": found(3, []) },
	},
	{
		rule: "a time that is none",
		send: all,
		query: { create_time_from: "x" },
		answers: { "0.18": everything, "0.21": { code: 100, message: wrong("x") } },
	},
];
