import type { Answer, Rule } from "./rule.ts";
import { files as three } from "./rule.ts";

const send = "POST /api/v1/datasets/$D/documents";
const long = `${"a".repeat(251)}.txt`;
const stored = (...names: readonly string[]): Answer => ({ code: 0, data: names.map((name) => ({ name })) });
const taken = (rule: string, names: readonly string[], answer: Answer): Rule => ({
	rule,
	send,
	files: names,
	answers: { "0.18": answer },
});

const kinds = ["docx", "xlsx", "ppt", "png", "pdf", "md", "json", "eml", "html"];
const special = `!_#$%&'()_+,-._;_=_@[_]^_\`{_}~.txt`;

/** POST /datasets/<dataset_id>/documents, by v0.21.1's public tests (test_upload_documents.py) and the code of all releases. */
export const uploadRules: readonly Rule[] = [
	{
		rule: "one file",
		send,
		files: ["a.txt"],
		answers: {
			"0.18": { code: 0, data: [{ name: "a.txt", size: 5, run: "UNSTART", chunk_method: "naive" }] },
			"1.0": {
				code: 0,
				part: '"message":null',
				data: [{ name: "a.txt", size: 5, run: "UNSTART", parser_id: "naive" }],
			},
		},
	},
	{
		rule: "a blank after the ending: v1.0 trims the name for its type (normalizeFilename in utility/file.go)",
		send,
		files: ["a.txt "],
		answers: { "0.18": { code: 500 }, "1.0": stored("a.txt ") },
	},
	{
		rule: "folders are dropped in v1.0",
		send,
		files: ["x/a.txt"],
		answers: { "0.18": stored("x/a.txt"), "1.0": stored("a.txt") },
	},
	{
		rule: "an ending alone is a type",
		send,
		files: [".txt"],
		answers: { "0.18": stored(".txt") },
	},
	{
		rule: "v1.0 compares names letter by letter, and appends a number",
		send,
		files: ["0.TXT", "0.txt", "0(1).txt"],
		answers: { "0.18": stored("0(1).TXT", "0(2).txt", "0(3).txt"), "1.0": stored("0.TXT", "0(1).txt", "0(1)(1).txt") },
	},
	...kinds.map((kind) => taken(`a file of ${kind}`, [`a.${kind}`], stored(`a.${kind}`))),
	...["exe", "unknown"].map((kind) =>
		taken(`a file of ${kind}`, [`a.${kind}`], {
			code: 500,
			message: `a.${kind}: This type of file has not been supported yet!`,
		}),
	),
	{ rule: "no part", send, files: [], answers: { "0.18": { code: 101, message: "No file part!" } } },
	{
		rule: "an empty name",
		send,
		files: [""],
		answers: { "0.18": { code: 101, message: "No file selected!" }, "1.0": { code: 101, message: "No file part!" } },
	},
	{
		rule: "the longest name",
		send,
		files: [long],
		answers: { "0.18": { code: 101, message: "File name should be less than 128 bytes." }, "0.21": stored(long) },
	},
	{
		rule: "a longer one",
		send,
		files: [`a${long}`],
		answers: { "0.18": { code: 101 }, "0.21": { code: 101, message: "File name must be 255 bytes or less." } },
	},
	{
		rule: "a missing dataset",
		send: "POST /api/v1/datasets/invalid_dataset_id/documents",
		files: ["a.txt"],
		answers: {
			"0.18": { code: 100, message: `LookupError("Can't find the dataset with ID invalid_dataset_id!")` },
			"0.25": { code: 102, message: "Can't find the dataset with ID invalid_dataset_id!" },
		},
	},
	{
		rule: "a name that is there in its folder: up to v0.19 the copy stays in it",
		send,
		files: ["x/a.txt", "x/a.txt"],
		answers: {
			"0.18": stored("x/a.txt", "x/a(1).txt"),
			"0.21": stored("x/a.txt", "a(1).txt"),
			"1.0": stored("a.txt", "a(1).txt"),
		},
	},
	{
		rule: "a number after a blank is counted up",
		send,
		files: ["a (1).txt", "a (1).txt"],
		answers: {
			"0.18": stored("a (1).txt", "a (2).txt"),
			"0.21": stored("a (1).txt", "a(2).txt"),
			"1.0": stored("a (1).txt", "a (1)(1).txt"),
		},
	},
	taken("one name twice", ["a.txt", "a.txt"], stored("a.txt", "a(1).txt")),
	taken("a name that is there", ["0.txt", "0.txt"], stored("0(1).txt", "0(2).txt")),
	taken("marks in a name", [special], stored(special)),
	taken("other letters in a name", ["São Paulo.txt", "关羽、孙权.txt"], stored("São Paulo.txt", "关羽、孙权.txt")),
	taken(
		"twenty files",
		Array.from({ length: 20 }, (_, at) => `n${at}.txt`),
		{ code: 0, left: [...three, ...Array.from({ length: 20 }, (_, at) => `n${at}.txt`)] },
	),
	{
		rule: "a valid file is stored beside an invalid one, which is reported from v0.26 on",
		send,
		files: ["a.txt", "b.exe"],
		answers: {
			"0.18": { code: 500, data: undefined, left: [...three, "a.txt"] },
			"0.26": { code: 500, data: [{ name: "a.txt" }], left: [...three, "a.txt"] },
		},
	},
];
