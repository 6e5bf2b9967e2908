import { type Answer, type Answers, files as three, type Rule, ruleOf } from "./rule.ts";

const send = "POST /api/v1/datasets/$D/documents";
const long = `${"a".repeat(251)}.txt`;
const stored = (...names: readonly string[]): Answer => ({ code: 0, data: names.map((name) => ({ name })) });
const uploads = (rule: string, files: readonly string[], answers: Answers | Answer | string): Rule =>
	ruleOf(rule, send, answers, { files });

const kinds = ["docx", "xlsx", "ppt", "png", "pdf", "md", "json", "eml", "html"];
const special = `!_#$%&'()_+,-._;_=_@[_]^_\`{_}~.txt`;

/** POST /datasets/<dataset_id>/documents, by v0.21.1's public tests (test_upload_documents.py) and the code of all releases. */
export const uploadRules: readonly Rule[] = [
	uploads("one file", ["a.txt"], {
		"0.18": { code: 0, data: [{ name: "a.txt", size: 5, run: "UNSTART", chunk_method: "naive" }] },
		"1.0": { code: 0, part: '"message":null', data: [{ name: "a.txt", size: 5, run: "UNSTART", parser_id: "naive" }] },
	}),
	uploads(
		"a blank after the ending: v1.0 trims the name for its type (normalizeFilename in utility/file.go)",
		["a.txt "],
		{ "0.18": "500", "1.0": stored("a.txt ") },
	),
	uploads("folders are dropped in v1.0", ["x/a.txt"], { "0.18": stored("x/a.txt"), "1.0": stored("a.txt") }),
	uploads("an ending alone is a type", [".txt"], stored(".txt")),
	uploads("v1.0 compares names letter by letter, and appends a number", ["0.TXT", "0.txt", "0(1).txt"], {
		"0.18": stored("0(1).TXT", "0(2).txt", "0(3).txt"),
		"1.0": stored("0.TXT", "0(1).txt", "0(1)(1).txt"),
	}),
	...kinds.map((kind) => uploads(`a file of ${kind}`, [`a.${kind}`], stored(`a.${kind}`))),
	...["exe", "unknown"].map((kind) =>
		uploads(`a file of ${kind}`, [`a.${kind}`], `500 a.${kind}: This type of file has not been supported yet!`),
	),
	uploads("no part", [], "101 No file part!"),
	ruleOf("JSON in place of parts", `${send} {}`, { code: 101, message: "No file part!", left: three }),
	uploads("a file, and one without a name, which is a field in Go", ["a.txt", ""], {
		"0.18": { code: 101, left: three },
		"1.0": stored("a.txt"),
	}),
	uploads("an empty name", [""], { "0.18": "101 No file selected!", "1.0": "101 No file part!" }),
	uploads("the longest name", [long], { "0.18": "101 File name should be less than 128 bytes.", "0.21": stored(long) }),
	uploads("a longer one", [`a${long}`], { "0.18": "101", "0.21": "101 File name must be 255 bytes or less." }),
	ruleOf(
		"a missing dataset",
		"POST /api/v1/datasets/invalid_dataset_id/documents",
		{
			"0.18": `100 LookupError("Can't find the dataset with ID invalid_dataset_id!")`,
			"0.25": "102 Can't find the dataset with ID invalid_dataset_id!",
		},
		{ files: ["a.txt"] },
	),
	uploads("a name that is there in its folder: up to v0.19 the copy stays in it", ["x/a.txt", "x/a.txt"], {
		"0.18": stored("x/a.txt", "x/a(1).txt"),
		"0.21": stored("x/a.txt", "a(1).txt"),
		"1.0": stored("a.txt", "a(1).txt"),
	}),
	uploads("a number after a blank is counted up", ["a (1).txt", "a (1).txt"], {
		"0.18": stored("a (1).txt", "a (2).txt"),
		"0.21": stored("a (1).txt", "a(2).txt"),
		"1.0": stored("a (1).txt", "a (1)(1).txt"),
	}),
	uploads("one name twice", ["a.txt", "a.txt"], stored("a.txt", "a(1).txt")),
	uploads("a name that is there", ["0.txt", "0.txt"], stored("0(1).txt", "0(2).txt")),
	uploads("marks in a name", [special], stored(special)),
	uploads("other letters in a name", ["São Paulo.txt", "关羽、孙权.txt"], stored("São Paulo.txt", "关羽、孙权.txt")),
	uploads(
		"twenty files",
		Array.from({ length: 20 }, (_, at) => `n${at}.txt`),
		{ code: 0, left: [...three, ...Array.from({ length: 20 }, (_, at) => `n${at}.txt`)] },
	),
	uploads("a valid file is stored beside an invalid one, which is reported from v0.26 on", ["a.txt", "b.exe"], {
		"0.18": { code: 500, data: undefined, left: [...three, "a.txt"] },
		"0.26": { code: 500, data: [{ name: "a.txt" }], left: [...three, "a.txt"] },
	}),
];
