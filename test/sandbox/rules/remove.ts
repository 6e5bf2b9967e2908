import { type Answer, type Answers, type Rule, ruleOf } from "./rule.ts";

const send = "DELETE /api/v1/datasets/$D/documents";
const none: Answer = { code: 0, left: [] };
const all = ["0.txt", "1.txt", "2.txt"];
const nothing: Answer = { code: 0, body: '{"code":0}', left: all };
/** Nothing is removed. */
const stays = (code: number, message = ""): Answer => ({ code, message, left: all });
const refused = (message: string): Answer => stays(102, message);
const strange = (ids: string): Answer =>
	refused(`These documents do not belong to dataset $D or Document not found: ${ids}`);
const unnamed = refused("should either provide doc ids or set delete_all(true), dataset: $D. ");
const unnamed10: Answer = { code: 102, part: 'should either provide doc ids or set delete_all(true)"', left: all };
const unread = stays(101, "Malformed JSON syntax: Missing commas/brackets or invalid encoding");

const redirected: Answer = {
	code: 0,
	body: `<!doctype html>\n<html><head><title>Redirecting...</title></head><body><div id="root"></div></body></html>\n`,
	left: all,
};

const removes = (rule: string, body: unknown, answers: Answers | Answer | string): Rule =>
	ruleOf(rule, send, answers, { body });

const odd = "\n!?。；！？\"'";

/** DELETE of documents, by v0.21.1's public tests (test_delete_documents.py) and the code of all releases. */
export const removeRules: readonly Rule[] = [
	removes("a body of null", "null", {
		"0.18": none,
		"0.24": stays(100),
		"0.26": unnamed,
		"1.0": stays(101, "Invalid request payload: expected object, got NoneType"),
	}),
	removes("an empty list", { ids: [] }, { "0.18": none, "0.25": nothing, "0.26": unnamed, "1.0": unnamed10 }),
	removes(
		"an unknown id",
		{ ids: ["invalid_id"] },
		{ "0.18": refused("Documents not found: ['invalid_id']"), "0.26": strange("invalid_id") },
	),
	removes(
		"an id of unusual characters, as Python prints it",
		{ ids: [odd] },
		{ "0.18": refused(`Documents not found: ['\\n!?。；！？"\\'']`), "0.26": strange(odd) },
	),
	removes("a body of text", '"not json"', {
		"0.18": stays(100, `AttributeError("'str' object has no attribute 'get'")`),
		"0.26": stays(101, "Invalid request payload: expected object, got str"),
	}),
	removes("a body that is not JSON", "{", { "0.18": none, "0.24": stays(100), "0.26": unread }),
	removes("one document", { ids: ["$0"] }, { "0.18": { code: 0, left: ["1.txt", "2.txt"] } }),
	removes(
		"all documents",
		{ ids: ["$0", "$1", "$2"] },
		{ "0.18": none, "1.0": { code: 0, data: { deleted: 3 }, part: '"message":"success"', left: [] } },
	),
	...(
		[
			["an empty body", "", 101, stays(101)],
			["no member", "{}", 102, unnamed10],
			["ids that are null", '{"ids":null}', 102, unnamed10],
			["a misspelt member", '{"id":["$0"]}', 101, unnamed10],
		] as const
	).map(([rule, body, code, last]): Rule => ({
		rule,
		send,
		body,
		answers: { "0.18": { ...none, body: '{"code":0}' }, "0.25": nothing, "0.26": stays(code), "1.0": last },
	})),
	removes(
		"ids and delete_all, from v0.26 on",
		{ ids: ["$0"], delete_all: true },
		{ "0.26": refused("should not provide both") },
	),
	removes(
		"ids that are text, in v1.0",
		{ ids: "$0" },
		{ "1.0": refused("json: cannot unmarshal string into Go struct field .ids of type []string") },
	),
	ruleOf("the path of a document", `${send}/$0`, {
		"0.18": stays(100, "405: Method Not Allowed"),
		"1.0": { status: 404, code: 404, left: all },
	}),
	ruleOf("the path of a document with an empty id, in Python", `${send}/`, {
		"0.18": { ...none, body: '{"code":0}' },
		"0.25": nothing,
		"0.26": stays(101),
		"1.0": redirected,
	}),
	ruleOf("no dataset", 'DELETE /api/v1/datasets//documents {"ids":["$0"]}', {
		"0.18": stays(100, "<MethodNotAllowed '405: Method Not Allowed'>"),
		"1.0": { status: 404, code: 404, left: all },
	}),
	ruleOf("a missing dataset", 'DELETE /api/v1/datasets/invalid_dataset_id/documents {"ids":["$0"]}', {
		"0.18": refused("You don't own the dataset invalid_dataset_id. "),
		"1.0": { code: 102, part: "You don't own the dataset invalid_dataset_id.\"", left: all },
	}),
	...[
		["invalid_id", "$0", "$1", "$2"],
		["$0", "invalid_id", "$1", "$2"],
		["$0", "$1", "$2", "invalid_id"],
	].map((ids): Rule => {
		const gone = { code: 102, message: "Documents not found: ['invalid_id']", left: [] };
		return {
			rule: `${ids.indexOf("invalid_id") + 1}. id is unknown`,
			send,
			body: { ids },
			answers: { "0.18": gone, "0.26": strange("invalid_id") },
		};
	}),
	removes(
		"a repeated id",
		{ ids: ["$0", "$0", "$1"] },
		{
			"0.18": { code: 0, data: { success_count: 2, errors: ["Duplicate document ids: $0"] }, left: ["2.txt"] },
			"0.26": stays(101, "Duplicate ids: '$0'"),
		},
	),
	removes(
		"an id that is a number",
		{ ids: [1] },
		{
			"0.18": stays(102),
			"0.26": stays(101, "Field: <ids.0> - Message: <Input should be a valid string>"),
			"1.0": refused("json: cannot unmarshal number into Go struct field .ids of type string"),
		},
	),
	removes(
		"delete_all, which v0.25 and later understand",
		{ delete_all: true },
		{ "0.18": none, "0.26": { code: 0, data: { deleted: 3 }, left: [] } },
	),
	removes(
		"an unknown member",
		{ ids: ["$0"], x: 1 },
		{
			"0.18": { code: 0, left: ["1.txt", "2.txt"] },
			"0.26": stays(101, "Field: <x> - Message: <Extra inputs are not permitted> - Value: <1>"),
			"1.0": { code: 0, data: { deleted: 1 }, left: ["1.txt", "2.txt"] },
		},
	),
	ruleOf(
		"another Content-Type",
		send,
		{
			"0.18": stays(102),
			"0.24": stays(100),
			"0.26": stays(101, "Unsupported content type: Expected application/json, got text/xml"),
		},
		{ body: '{"ids":["x"]}', type: "text/xml" },
	),
];

const one = "GET /api/v1/datasets/$D/documents/$0";

/** GET of a document, by v0.21.1's public tests (test_download_document.py) and the code of all releases. */
export const downloadRules: readonly Rule[] = [
	ruleOf("a document", one, { code: 0, body: "0.txt" }),
	ruleOf("a missing document", "GET /api/v1/datasets/$D/documents/invalid_document_id", {
		"0.18": "102 The dataset not own the document invalid_document_id.",
		"0.27": "102 document not found",
	}),
	ruleOf("no dataset", "GET /api/v1/datasets//documents/$0", {
		"0.18": "100 <NotFound '404: Not Found'>",
		"0.23": { status: 404, code: 404 },
	}),
	ruleOf("a missing dataset", "GET /api/v1/datasets/invalid_dataset_id/documents/$0", {
		"0.18": "102 You do not own the dataset invalid_dataset_id.",
		"0.26": "102 The dataset not own the document $0.",
		"0.27": "102 document not found",
	}),
];
