import { type Answer, type Answers, type Rule, ruleOf } from "./rule.ts";

const path = "/api/v1/datasets/$D/documents/$0";
const long = `${"a".repeat(251)}.txt`;
const after = (name: string): Answer => ({ code: 0, left: [name, "1.txt", "2.txt"] });
const kept = (code: number, message: string): Answer => ({ code, message, left: ["0.txt", "1.txt", "2.txt"] });
const tooLong018 = kept(101, "The name should be less than 128 bytes.");
const short = `${"a".repeat(123)}.txt`;
const field = (name: string, why: string, value: string): string =>
	`Field: <${name}> - Message: <${why}> - Value: <${value}>`;
const text = "Input should be a valid string";
const methods = "naive manual qa table paper book laws presentation picture one knowledge_graph email tag".split(" ");

/** v1.0 has no PUT of a document. */
const unknown: Answer = { status: 404, code: 404, message: "Not Found: /api/v1/datasets/" };

type Row = readonly [rule: string, body: unknown, answers: Answers];

const fixed = (name: string): Answers => ({
	"0.18": kept(102, `Can't change \`${name}\`.`),
	"0.27": kept(102, `can't change \`${name}\``),
});

/** v1.0 has its words in small letters, too. */
const inSmallLetters = (code: number, message: string): Answers => ({
	"0.18": kept(code, message),
	"1.0": kept(code, `${message.charAt(0).toLowerCase()}${message.slice(1).replace(/\.$/, "")}`),
});

const configs = [
	{},
	{ chunk_token_num: 512, layout_recognize: "DeepDOC", html4excel: false, delimiter: "\\n" },
	{ layout_recognize: "DeepDOC" },
	{ layout_recognize: "Naive" },
	{ html4excel: true },
	{ html4excel: false },
	{ delimiter: "" },
	{ delimiter: "`##`" },
	{ raptor: { use_raptor: true } },
	{ raptor: { use_raptor: false } },
];

const usual = {
	chunk_token_num: 512,
	delimiter: "\\n",
	html4excel: false,
	layout_recognize: "DeepDOC",
	raptor: { use_raptor: false },
	graphrag: { use_graphrag: false },
};

/** Lists with the separators of Chinese, and letters that are none: each is more than a byte. */
const letters = {
	city: "São Paulo、上海",
	people: ["关羽、孙权", "张辽"],
	marks: ["甲，乙", "丙；丁", "甲"],
	places: ["São Paulo", "coração", "🦊🚀"],
};

const rows: readonly Row[] = [
	["a new name", { name: "new.txt" }, { "0.18": after("new.txt") }],
	["of 128 bytes", { name: `${"a".repeat(124)}.txt` }, { "0.18": tooLong018, "0.21": after(`${"a".repeat(124)}.txt`) }],
	["one of 127 bytes", { name: short }, { "0.18": after(short) }],
	["the longest name", { name: long }, { "0.18": tooLong018, "0.21": after(long) }],
	["longer", { name: `a${long}` }, { "0.18": tooLong018, "0.21": kept(101, "File name must be 255 bytes or less.") }],
	["a name in a folder", { name: "x/y/new.txt" }, { "0.18": after("x/y/new.txt") }],
	["a name that leaves its folder", { name: "../new.txt" }, { "0.18": after("../new.txt") }],
	[
		"a name that is a number",
		{ name: 0 },
		{
			"0.18": kept(100, `AttributeError("'int' object has no attribute 'encode'")`),
			"0.25": kept(102, field("name", text, "0")),
		},
	],
	[
		"a name that is null",
		{ name: null },
		{
			"0.18": kept(100, `AttributeError("'NoneType' object has no attribute 'encode'")`),
			"0.25": kept(100, "AttributeError('NoneType' object has no attribute 'encode')"),
			"0.27": kept(102, field("name", text, "None")),
		},
	],
	["an empty name", { name: "" }, inSmallLetters(101, "The extension of file can't be changed")],
	["a name without an ending", { name: "0" }, inSmallLetters(101, "The extension of file can't be changed")],
	["another dataset's name", { name: "1.txt" }, inSmallLetters(102, "Duplicated document name in the same dataset.")],
	["the same in other letters", { name: "1.TXT" }, { "0.18": after("1.TXT") }],
	["a name in other letters", { name: "São Paulo、上海.txt" }, { "0.18": after("São Paulo、上海.txt") }],
	["its own name", { name: "0.txt" }, { "0.18": after("0.txt") }],
	[
		"metadata, with which v1.0 answers as it has stored them",
		{ meta_fields: { test: "test" } },
		{ "0.18": "0", "1.0": { code: 0, data: { id: "$0", meta_fields: { test: "test" } } } },
	],
	[
		"booleans, which v1.0 refuses",
		{ meta_fields: { ok: true } },
		{
			"0.18": { code: 0, metadata: { ok: true } },
			"1.0": kept(102, "Field: <meta_fields> - Message: <The type is not supported: True>"),
		},
	],
	[
		"booleans in a list, which v1.0 refuses",
		{ meta_fields: { ok: [true, false] } },
		{
			"0.18": { code: 0, metadata: { ok: [true, false] } },
			"1.0": kept(102, "Field: <meta_fields> - Message: <The type is not supported in list: [True, False]>"),
		},
	],
	[
		"long numbers, which are doubles in v1.0",
		'{"meta_fields":{"n":9007199254740993,"list":[1.0,2,1]}}',
		{ "1.0": { code: 0, data: { meta_fields: { n: 9007199254740992, list: [1, 2] } } } },
	],
	[
		"a number without bounds, which is no double",
		'{"meta_fields":{"n":1e999}}',
		{ "1.0": kept(102, "Field: <meta_fields> - Message: <Input should be a valid number>") },
	],
	["NaN, which is no JSON in v1.0", '{"meta_fields":{"n":NaN}}', { "1.0": kept(102, "invalid character") }],
	["a body of nothing", "", { "1.0": kept(102, "unexpected end of JSON input") }],
	["a body of null", "null", { "1.0": after("0.txt") }],
	["a body of a list", "[]", { "1.0": kept(102, "json: cannot unmarshal array into Go value") }],
	[
		"no member that it knows",
		{ Meta_Fields: { a: 1 }, meta_field: { a: 1 } },
		{ "0.18": { code: 0, metadata: {} }, "1.0": { code: 0, data: { id: "$0" }, metadata: {} } },
	],
	[
		"metadata in other letters",
		{ meta_fields: letters },
		{
			"0.18": { code: 0, metadata: letters },
			"0.24": { code: 0, metadata: { ...letters, people: ["关羽", "孙权", "张辽"], marks: ["甲", "乙", "丙", "丁"] } },
		},
	],
	[
		"metadata that are text",
		{ meta_fields: "test" },
		{
			"0.18": kept(102, "meta_fields must be a dictionary"),
			"0.25": kept(102, field("meta_fields", "Input should be a valid dictionary", "test")),
		},
	],
	[
		"metadata that are null",
		{ meta_fields: null },
		{ "0.18": kept(102, "meta_fields must be a dictionary"), "0.25": { code: 0, metadata: {} } },
	],
	...[{ a: { b: 1 } }, { a: null }, { a: [["b"]] }, { a: [null] }].map((meta_fields): Row => [
		`${JSON.stringify(meta_fields)} as metadata`,
		{ meta_fields },
		{ "0.25": { ...kept(102, "Field: <meta_fields> - Message: <The type is not supported"), metadata: {} } },
	]),
	["a list as metadata", { meta_fields: [] }, { "0.25": kept(102, "Field: <meta_fields> - Message: <") }],
	...methods.map((method): Row => [
		`the method ${method}`,
		{ chunk_method: method },
		{
			"0.18": "0",
			"0.21": { code: 0, data: { chunk_method: method } },
			"1.0": { code: 0, data: { parser_id: method } },
		},
	]),
	[
		"an empty method",
		{ chunk_method: "" },
		{
			"0.18": kept(102, "`chunk_method`  doesn't exist"),
			"0.25": after("0.txt"),
			"1.0": kept(102, "`chunk_method` (empty string) is not valid"),
		},
	],
	[
		"a method that is none",
		{ chunk_method: "other" },
		{
			"0.18": kept(102, "`chunk_method` other doesn't exist"),
			"0.25": kept(102, field("chunk_method", "`chunk_method` other doesn't exist", "other")),
		},
	],
	["chunk_count", { chunk_count: 1 }, fixed("chunk_count")],
	["progress", { progress: 1.0 }, fixed("progress")],
	["token_count", { token_count: 1 }, fixed("token_count")],
	...configs.map((config): Row => [
		`settings ${JSON.stringify(config)}`,
		{ chunk_method: "naive", parser_config: config },
		{ "0.18": "0", "0.21": { code: 0, data: { parser_config: { ...usual, ...config } } } },
	]),
];

/** The same rule for each verb: it holds for the releases that have the verb. */
const sent = rows.flatMap(([rule, body, answers]): Rule[] => {
	const split = Object.entries(answers);
	const before = split.filter(([from]) => from < "0.25");
	const last = split.filter(([from]) => from <= "0.25").at(-1)?.[1];
	const later = split.filter(([from]) => from > "0.25");
	const verbless = "100 405: Method Not Allowed";
	if (split.every(([from]) => from === "1.0")) return [{ rule, send: `PATCH ${path}`, body, answers }];
	return [
		{
			rule,
			send: `PUT ${path}`,
			body,
			answers: {
				...Object.fromEntries(before),
				"0.25": verbless,
				"0.26": last ?? verbless,
				...Object.fromEntries(later),
				"1.0": unknown,
			},
		},
		{
			rule,
			send: `PATCH ${path}`,
			body,
			answers: { "0.18": verbless, "0.25": last ?? verbless, ...Object.fromEntries(later) },
		},
	];
});

const many = (rule: string, body: string, answers: Answers): Rule =>
	ruleOf(rule, `POST /api/v1/datasets/$D/metadata/update ${body}`, answers);
const setting = '"updates":[{"key":"author","value":"Ben"}]';
const one = { code: 0, data: { updated: 1, matched_docs: 1 }, metadata: { author: "Ben" } };
const nothing = { code: 0, data: { updated: 0, matched_docs: 0 }, metadata: {} };

/** PUT and PATCH of a document, by v0.21.1's public tests (test_update_document.py) and the code of all releases. */
export const updateRules: readonly Rule[] = [
	...sent,
	ruleOf("no document", 'PUT /api/v1/datasets/$D/documents/ {"name":"a.txt"}', {
		"0.18": "100 <MethodNotAllowed '405: Method Not Allowed'>",
		"1.0": { status: 404, code: 404 },
	}),
	ruleOf("no dataset", 'PUT /api/v1/datasets//documents/$0 {"name":"a.txt"}', {
		"0.18": "100 <NotFound '404: Not Found'>",
		"0.23": { status: 404, code: 404 },
	}),
	ruleOf("a missing document", 'PUT /api/v1/datasets/$D/documents/invalid_document_id {"name":"a.txt"}', {
		"0.18": "102 The dataset doesn't own the document.",
		"0.25": "100",
		"0.26": "102 The dataset doesn't own the document.",
		"0.27": "102 the dataset doesn't own the document",
		"1.0": unknown,
	}),
	ruleOf("a missing document", 'PATCH /api/v1/datasets/$D/documents/invalid_document_id {"name":"a.txt"}', {
		"0.25": "102 The dataset doesn't own the document.",
		"0.27": "102 the dataset doesn't own the document",
	}),
	ruleOf("a missing dataset", 'PATCH /api/v1/datasets/invalid_dataset_id/documents/$0 {"name":"a.txt"}', {
		"0.25": "102 You don't own the dataset.",
		"0.27": "102 you don't own the dataset",
	}),
	...["PATCH", "PUT", "POST"].map((verb): Rule => {
		const verbless = "100 405: Method Not Allowed";
		return {
			rule: "a wrong verb is refused before the key is",
			send: `${verb} ${path}`,
			body: { meta_fields: { a: 1 } },
			key: null,
			answers:
				{
					PATCH: { "0.18": verbless, "0.25": { status: 401, code: 401 } },
					PUT: { "0.25": verbless, "0.26": { status: 401, code: 401 }, "1.0": unknown },
					POST: { "0.18": verbless, "1.0": unknown },
				}[verb] ?? {},
		};
	}),
	ruleOf(
		"a missing dataset and a body that is not JSON",
		"PATCH /api/v1/datasets/invalid_dataset_id/documents/$0",
		{ "1.0": "102 invalid character '-' in numeric literal" },
		{ body: "--x", type: "multipart/form-data; boundary=x" },
	),
	ruleOf(
		"JSON under another Content-Type",
		`PATCH ${path}`,
		{ "1.0": { code: 0, metadata: { a: "b" } } },
		{ body: '{"meta_fields":{"a":"b"}}', type: "multipart/form-data" },
	),
	ruleOf("a missing dataset", 'PUT /api/v1/datasets/invalid_dataset_id/documents/$0 {"name":"a.txt"}', {
		"0.18": "102 You don't own the dataset.",
		"0.25": "100",
		"0.26": "102 You don't own the dataset.",
		"0.27": "102 you don't own the dataset",
		"1.0": unknown,
	}),
	many("metadata of some documents", `{"selector":{"document_ids":["$0"]},${setting}}`, {
		"0.18": { code: 100, metadata: {} },
		"0.23": one,
		"0.24": { code: 100, metadata: {} },
		"0.25": one,
	}),
	many("metadata of no named document: of all at v0.23", `{"selector":{"document_ids":[]},${setting}}`, {
		"0.23": { code: 0, metadata: { author: "Ben" } },
		"0.24": "100",
		"0.26": nothing,
	}),
	many("metadata of whatever there is", `{${setting}}`, { "0.25": { code: 100, metadata: {} }, "0.26": nothing }),
	many(
		"a key that is set and one that is removed",
		`{"selector":{"document_ids":["$0"]},${setting},"deletes":[{"key":"author"}]}`,
		{ "0.23": { code: 0, metadata: {} }, "0.24": "100", "0.25": { code: 0, metadata: {} } },
	),
	many("metadata of a document that is not there", `{"selector":{"document_ids":["x"]},${setting}}`, {
		"0.23": "102",
		"0.24": "100",
		"0.25": "102",
	}),
	many("a key without a value", '{"updates":[{"key":"author"}]}', { "0.23": "102", "0.24": "100", "0.25": "102" }),
];
