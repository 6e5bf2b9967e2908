import type { Answer, Answers, Rule } from "./rule.ts";

const list = "GET /api/v1/datasets";
const one = "/api/v1/datasets/$D";
const absent = "d94a8dc02c9711f0930f7fbc369eab6d";
const other = "550e8400e29b41d4a716446655440000";
const odd = "Malformed JSON syntax: Missing commas/brackets or invalid encoding";

/** The server also has the datasets of other rules: so of a list without a name or an id only the code is compared. */
const found: Answer = { code: 0, data: [{ id: "$D" }] };
const fine: Answers = { "0.18": "0" };
const strict = (message: string, loose: Answer | string): Answers => ({ "0.18": loose, "0.21": `101 ${message}` });
const noDataset = (message = `lacks permission for dataset '${absent}'`): Answers => ({
	"0.18": "102",
	"0.21": `108 ${message}`,
	"0.25": `102 ${message}`,
});

const least = "Input should be greater than or equal to 1";
const noNumber = "Input should be a valid integer, unable to parse string as an integer";
const columns = "Input should be 'create_time' or 'update_time'";
const noBoolean = "Input should be a valid boolean, unable to interpret input";
const uuid1 = (why: string): Answers => ({ "0.18": "102", "0.21": `101 ${why}`, "0.27": "101 Invalid UUID format" });

const otherKind: Answers = { "0.18": "102", "0.21": "101 Must be a UUID1 format", "0.27": "102 lacks permission" };

type Query = readonly [rule: string, query: Readonly<Record<string, string>>, answers: Answers];

const queries: readonly Query[] = [
	["pages", { page: "1", page_size: "1" }, fine],
	["a page after the last", { page: "9999" }, { "0.18": { code: 0, data: [] } }],
	["page 0", { page: "0" }, strict(least, "0")],
	["a page that is no number", { page: "a" }, strict(noNumber, "100")],
	["a size", { page_size: "2" }, fine],
	["a size of 0", { page_size: "0" }, strict(least, "0")],
	["a size that is no number", { page_size: "a" }, strict(noNumber, "100")],
	["a size over 100", { page_size: "101" }, { "0.18": "0", "0.26": "101 less than or equal to 100", "1.0": "0" }],
	["by the time of creation", { orderby: "create_time" }, fine],
	["by the time of change", { orderby: "update_time" }, fine],
	...["", "unknown", "CREATE_TIME", "UPDATE_TIME", " create_time "].map((orderby): Query => [
		`by ${JSON.stringify(orderby)}`,
		{ orderby },
		{ "0.21": `101 ${columns}` },
	]),
	...["true", "false", "True", "False"].map((desc): Query => [`desc=${desc}`, { desc }, fine]),
	...["1", "0", "yes", "no", "y", "n"].map((desc): Query => [`desc=${desc}`, { desc }, { "0.18": "102", "0.21": "0" }]),
	...["3.14", "unknown"].map((desc): Query => [`desc=${desc}`, { desc }, strict(noBoolean, "102")]),
	["a name", { name: "$N" }, { "0.18": found }],
	["a name that is not there", { name: "wrong name" }, noDataset("lacks permission for dataset 'wrong name'")],
	["no name", { name: "" }, fine],
	["an id", { id: "$D" }, { "0.18": found }],
	["an id that is not valid", { id: "not_uuid" }, uuid1("Invalid UUID1 format")],
	["an id of another kind", { id: other }, otherKind],
	["a missing id", { id: absent }, noDataset()],
	["an empty id", { id: "" }, { "0.18": "0", "0.21": "101 Invalid UUID1 format", "0.27": "101 Invalid UUID format" }],
	["an id and its name", { id: "$D", name: "$N" }, { "0.18": found }],
	["an id and a missing name", { id: "$D", name: "wrong" }, noDataset("lacks permission for dataset 'wrong'")],
	["a missing id and a name", { id: absent, name: "$N" }, noDataset()],
	["a parameter that it does not know", { unknown_field: "x" }, strict("Extra inputs are not permitted", "0")],
];

type Body = readonly [rule: string, body: unknown, answers: Answers, type?: string];

const empty = strict("String should have at least 1 character", "102");
const long = strict("should have at most 128 characters", "102");
const typed = strict("Input should be a valid string", "100");
const in10 = (message: string): Answers => ({ "1.0": `102 ${message}` });
const number10 = in10("json: cannot unmarshal number into Go struct field .name of type string");

const required = "Field validation for 'name' failed on the 'required' tag";
const least10 = "String should have at least 1 character";
/** In a creation and in a change. */
const created10 = [
	required,
	"dataset name can't be empty",
	"Dataset name length is 129 which is large than 128",
	required,
] as const;
const changed10 = [least10, least10, "should have at most 128 characters", "no properties were modified"] as const;

/** Faults of a name in a creation, or in a change: v1.0 has other words for each of them. */
const nameFaults = (inOne: readonly [empty: string, blank: string, long: string, none: string]): readonly Body[] => [
	["an empty name", { name: "" }, { ...empty, ...in10(inOne[0]) }],
	["a blank for a name", { name: " " }, { ...empty, ...in10(inOne[1]) }],
	["a name of 129", { name: "a".repeat(129) }, { ...long, ...in10(inOne[2]) }],
	["null for a name", { name: null }, { ...typed, ...in10(inOne[3]) }],
	["a number for a name", { name: 0 }, { ...typed, ...number10 }],
	[
		"another type of body",
		{ name: "x" },
		{ "0.21": "101 Unsupported content type: Expected application/json, got text/xml" },
		"text/xml",
	],
	["a body that is not JSON", "a", { "0.21": `101 ${odd}` }],
	["a body of text", '"a"', { "0.21": "101 Invalid request payload: expected object, got str" }],
];

const removals: readonly Body[] = [
	["one", { ids: ["$D"] }, { "0.18": "0", "0.25": { code: 0, data: { success_count: 1 } } }],
	[
		"an empty list",
		{ ids: [] },
		{ "0.21": "0", "0.25": { code: 0, data: { success_count: 0 } }, "1.0": { code: 0, data: { deleted: [] } } },
	],
	["an id that is not valid", { ids: ["not_uuid"] }, uuid1("Invalid UUID1 format")],
	["an id of another kind", { ids: [other] }, otherKind],
	["a missing id", { ids: [absent] }, noDataset(`lacks permission for datasets: '${absent}'`)],
	...[
		[absent, "$D"],
		["$D", absent],
	].map((ids): Body => [
		`a missing id among others: ${ids.indexOf(absent)}`,
		{ ids },
		{ "0.18": { code: 0, data: { success_count: 1 } }, "0.21": `108 ${absent}`, "0.25": `102 ${absent}` },
	]),
	[
		"an id twice",
		{ ids: ["$D", "$D"] },
		strict("Duplicate ids: '$D'", { code: 0, data: { success_count: 1, errors: ["Duplicate dataset ids: $D"] } }),
	],
	["a member that it does not know", { unknown_field: "x" }, { "0.21": "101 Extra inputs are not permitted" }],
	[
		"no member",
		{},
		{
			"0.21": "101 Field required",
			"0.25": { code: 0, data: { success_count: 0 } },
			"1.0": { code: 0, data: { deleted: [] } },
		},
	],
	[
		"another type of body",
		"{}",
		{ "0.21": "101 Unsupported content type: Expected application/json, got text/xml" },
		"text/xml",
	],
	["a body that is not JSON", "a", { "0.21": `101 ${odd}` }],
	["a body of text", '"a"', { "0.21": "101 Invalid request payload: expected object, got str" }],
];

const changed = (name: string): Answers => ({ "0.18": "0", "0.21": { code: 0, data: { id: "$D", name } } });

const updates: readonly Rule[] = [
	...nameFaults(changed10).map((row) => ruleOf(`PUT ${one}`, row)),
	ruleOf(`PUT ${one}`, ["a new name", { name: "new $D" }, changed("new $D")]),
	ruleOf(`PUT ${one}`, ["its own name in the other case", { name: "$N!" }, changed("$N!")]),
	ruleOf(`PUT ${one}`, [
		"no member",
		{},
		{
			"0.21": "101 No properties were modified",
			"0.25": "102 No properties were modified",
			"0.27": "102 no properties were modified",
		},
	]),
	ruleOf(`PUT ${one}`, [
		"a name that another dataset has",
		{ name: "TAKEN" },
		{ "0.18": "102 Duplicated dataset name in updating dataset.", "0.21": "102 Dataset name 'TAKEN' already exists" },
	]),
	ruleOf("PUT /api/v1/datasets/not_uuid", ["an id that is not valid", { name: "x" }, uuid1("Invalid UUID1 format")]),
	ruleOf(`PUT /api/v1/datasets/${other}`, ["an id of another kind", { name: "x" }, otherKind]),
	ruleOf(`PUT /api/v1/datasets/${absent}`, ["a missing id", { name: "x" }, noDataset()]),
];

const creations: readonly Rule[] = [
	...nameFaults(created10).map((row) => ruleOf("POST /api/v1/datasets", row)),
	ruleOf("POST /api/v1/datasets", ["no name", {}, { ...strict("Field required", "102"), ...in10(required) }]),
	ruleOf("POST /api/v1/datasets", [
		"a name",
		{ name: "made $D" },
		{
			"0.18": { code: 0, data: { name: "made $D" } },
			"1.0": { code: 0, data: { name: "made $D", parser_id: "naive" }, part: '"message":null' },
		},
	]),
	ruleOf("POST /api/v1/datasets", [
		"a member that it does not know",
		{ name: "other $D", x: 1 },
		{ "0.21": "101 Extra inputs are not permitted", "1.0": { code: 0, data: { name: "other $D" } } },
	]),
	ruleOf("POST /api/v1/datasets", [
		"a name of 128 letters and more bytes",
		{ name: "é".repeat(127) },
		{ "0.23": "102", ...in10("Dataset name length is 254 which is large than 128") },
	]),
	ruleOf("POST /api/v1/datasets", [
		"a taken name, in the other case",
		{ name: "TAKEN" },
		{
			"0.18": "102 Duplicated dataset name in creating dataset.",
			"0.21": "103 Dataset name 'TAKEN' already exists",
			"0.23": { code: 0, data: { name: "TAKEN(1)" } },
		},
	]),
];

/** v0.18 accepts 127 characters, v0.21 128 characters, and later releases 128 bytes. */
const lengths = (
	[
		["x", 127, {}],
		["x", 128, { "0.18": "102", "0.21": "0" }],
		["é", 65, { "0.23": "102" }],
	] as const
).map(([letter, count, answers]) =>
	ruleOf("POST /api/v1/datasets", [
		`a name of ${count} ${letter}`,
		{ name: letter.repeat(count) },
		{ "0.18": "0", ...answers },
	]),
);

const paths = ["/api/v1/nothing", "/api/v2/datasets", "/api", `${one}/papers`].map((path): Rule => ({
	rule: "a mistyped address",
	send: `GET ${path}`,
	answers: { "0.18": "100 404", "0.23": { status: 404, code: 404, message: "Not Found" } },
}));

/** Datasets, by v0.21.1's public tests (test_dataset_mangement) and the code of all releases. */
export const datasetRules: readonly Rule[] = [
	...queries.map(([rule, query, answers]): Rule => ({ rule, send: list, query, answers })),
	...removals.map((row) => ruleOf("DELETE /api/v1/datasets", row)),
	...updates,
	...creations,
	...lengths,
	...paths,
];

function ruleOf(send: string, [rule, body, answers, type]: Body): Rule {
	return { rule, send, body, answers, ...(type === undefined ? {} : { type }) };
}
