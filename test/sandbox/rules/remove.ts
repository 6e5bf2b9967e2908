import type { Answer, Rule } from "./rule.ts";

const send = "DELETE /api/v1/datasets/$D/documents";
const none: Answer = { code: 0, left: [] };
const all = ["0.txt", "1.txt", "2.txt"];
const nothing: Answer = { code: 0, body: '{"code":0}', left: all };
const refused = (message: string): Answer => ({ code: 102, message, left: all });
const strange = (ids: string): Answer =>
	refused(`These documents do not belong to dataset $D or Document not found: ${ids}`);
const unnamed = refused("should either provide doc ids or set delete_all(true), dataset: $D. ");
const unnamed10: Answer = { code: 102, part: 'should either provide doc ids or set delete_all(true)"', left: all };
const unread = {
	code: 101,
	message: "Malformed JSON syntax: Missing commas/brackets or invalid encoding",
	left: all,
};

const redirected: Answer = {
	code: 0,
	body: `<!doctype html>\n<html><head><title>Redirecting...</title></head><body><div id="root"></div></body></html>\n`,
	left: all,
};

const odd = "\n!?。；！？\"'";

/** DELETE of documents, by v0.21.1's public tests (test_delete_documents.py) and the code of all releases. */
export const removeRules: readonly Rule[] = [
	{
		rule: "a body of null",
		send,
		body: "null",
		answers: {
			"0.18": none,
			"0.24": { code: 100, left: all },
			"0.26": unnamed,
			"1.0": { code: 101, message: "Invalid request payload: expected object, got NoneType", left: all },
		},
	},
	{
		rule: "an empty list",
		send,
		body: { ids: [] },
		answers: { "0.18": none, "0.25": nothing, "0.26": unnamed, "1.0": unnamed10 },
	},
	{
		rule: "an unknown id",
		send,
		body: { ids: ["invalid_id"] },
		answers: { "0.18": refused("Documents not found: ['invalid_id']"), "0.26": strange("invalid_id") },
	},
	{
		rule: "an id of unusual characters, as Python prints it",
		send,
		body: { ids: [odd] },
		answers: { "0.18": refused(`Documents not found: ['\\n!?。；！？"\\'']`), "0.26": strange(odd) },
	},
	{
		rule: "a body of text",
		send,
		body: '"not json"',
		answers: {
			"0.18": { code: 100, message: `AttributeError("'str' object has no attribute 'get'")`, left: all },
			"0.26": { code: 101, message: "Invalid request payload: expected object, got str", left: all },
		},
	},
	{
		rule: "a body that is not JSON",
		send,
		body: "{",
		answers: { "0.18": none, "0.24": { code: 100, left: all }, "0.26": unread },
	},
	{ rule: "one document", send, body: { ids: ["$0"] }, answers: { "0.18": { code: 0, left: ["1.txt", "2.txt"] } } },
	{
		rule: "all documents",
		send,
		body: { ids: ["$0", "$1", "$2"] },
		answers: { "0.18": none, "1.0": { code: 0, data: { deleted: 3 }, part: '"message":"success"', left: [] } },
	},
	...(
		[
			["an empty body", "", 101, { code: 101, left: all }],
			["no member", "{}", 102, unnamed10],
			["ids that are null", '{"ids":null}', 102, unnamed10],
			["a misspelt member", '{"id":["$0"]}', 101, unnamed10],
		] as const
	).map(([rule, body, code, last]): Rule => ({
		rule,
		send,
		body,
		answers: { "0.18": { ...none, body: '{"code":0}' }, "0.25": nothing, "0.26": { code, left: all }, "1.0": last },
	})),
	{
		rule: "ids and delete_all, from v0.26 on",
		send,
		body: { ids: ["$0"], delete_all: true },
		answers: { "0.26": refused("should not provide both") },
	},
	{
		rule: "ids that are text, in v1.0",
		send,
		body: { ids: "$0" },
		answers: { "1.0": refused("json: cannot unmarshal string into Go struct field .ids of type []string") },
	},
	{
		rule: "the path of a document",
		send: `${send}/$0`,
		answers: {
			"0.18": { code: 100, message: "405: Method Not Allowed", left: all },
			"1.0": { status: 404, code: 404, left: all },
		},
	},
	{
		rule: "the path of a document with an empty id, in Python",
		send: `${send}/`,
		answers: {
			"0.18": { ...none, body: '{"code":0}' },
			"0.25": nothing,
			"0.26": { code: 101, left: all },
			"1.0": redirected,
		},
	},
	{
		rule: "no dataset",
		send: "DELETE /api/v1/datasets//documents",
		body: { ids: ["$0"] },
		answers: {
			"0.18": { code: 100, message: "<MethodNotAllowed '405: Method Not Allowed'>", left: all },
			"1.0": { status: 404, code: 404, left: all },
		},
	},
	{
		rule: "a missing dataset",
		send: "DELETE /api/v1/datasets/invalid_dataset_id/documents",
		body: { ids: ["$0"] },
		answers: {
			"0.18": refused("You don't own the dataset invalid_dataset_id. "),
			"1.0": { code: 102, part: "You don't own the dataset invalid_dataset_id.\"", left: all },
		},
	},
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
	{
		rule: "a repeated id",
		send,
		body: { ids: ["$0", "$0", "$1"] },
		answers: {
			"0.18": { code: 0, data: { success_count: 2, errors: ["Duplicate document ids: $0"] }, left: ["2.txt"] },
			"0.26": { code: 101, message: "Duplicate ids: '$0'", left: all },
		},
	},
	{
		rule: "an id that is a number",
		send,
		body: { ids: [1] },
		answers: {
			"0.18": { code: 102, left: all },
			"0.26": { code: 101, message: "Field: <ids.0> - Message: <Input should be a valid string>", left: all },
			"1.0": refused("json: cannot unmarshal number into Go struct field .ids of type string"),
		},
	},
	{
		rule: "delete_all, which v0.25 and later understand",
		send,
		body: { delete_all: true },
		answers: { "0.18": none, "0.26": { code: 0, data: { deleted: 3 }, left: [] } },
	},
	{
		rule: "an unknown member",
		send,
		body: { ids: ["$0"], x: 1 },
		answers: {
			"0.18": { code: 0, left: ["1.txt", "2.txt"] },
			"0.26": { code: 101, message: "Field: <x> - Message: <Extra inputs are not permitted> - Value: <1>", left: all },
			"1.0": { code: 0, data: { deleted: 1 }, left: ["1.txt", "2.txt"] },
		},
	},
	{
		rule: "another Content-Type",
		send,
		body: '{"ids":["x"]}',
		type: "text/xml",
		answers: {
			"0.18": { code: 102, left: all },
			"0.24": { code: 100, left: all },
			"0.26": { code: 101, message: "Unsupported content type: Expected application/json, got text/xml", left: all },
		},
	},
];

const one = "GET /api/v1/datasets/$D/documents/$0";

/** GET of a document, by v0.21.1's public tests (test_download_document.py) and the code of all releases. */
export const downloadRules: readonly Rule[] = [
	{ rule: "a document", send: one, answers: { "0.18": { code: 0, body: "0.txt" } } },
	{
		rule: "a missing document",
		send: "GET /api/v1/datasets/$D/documents/invalid_document_id",
		answers: {
			"0.18": { code: 102, message: "The dataset not own the document invalid_document_id." },
			"0.27": { code: 102, message: "document not found" },
		},
	},
	{
		rule: "no dataset",
		send: "GET /api/v1/datasets//documents/$0",
		answers: { "0.18": { code: 100, message: "<NotFound '404: Not Found'>" }, "0.23": { status: 404, code: 404 } },
	},
	{
		rule: "a missing dataset",
		send: "GET /api/v1/datasets/invalid_dataset_id/documents/$0",
		answers: {
			"0.18": { code: 102, message: "You do not own the dataset invalid_dataset_id." },
			"0.26": { code: 102, message: "The dataset not own the document $0." },
			"0.27": { code: 102, message: "document not found" },
		},
	},
];
