import { describe, expect, it, test } from "vitest";
import type { JsonValue } from "../../src/json/values.ts";
import { classifyAnswer } from "../../src/rest/classify.ts";
import { answerOf, readEnvelope } from "./decoded.ts";
import { RestError } from "../../src/rest/errors.ts";
import {
	documented,
	flavourNamed,
	flavours,
	type DatasetListStyle,
	type ProbeAnswer,
} from "../../src/rest/flavours.ts";
import { splitLists } from "../../src/rest/ragflow.ts";
import { datasetListStyle, readProbe, readRight } from "../../src/rest/probe.ts";
import { ragflow1, ragflowPatch, ragflowPut } from "../support/flavours.ts";

const context = { host: "host:1", redact: (text: string) => text };
const envelope = (code: number, message: string): string => JSON.stringify({ code, message });

describe("which flavour is recognised: the wrong one would send its rows to a route that refuses or ignores them", () => {
	const wrong = "wrong_verb";
	const words = "in_its_words";
	test.each<[ProbeAnswer, ProbeAnswer, DatasetListStyle | undefined, string | undefined]>([
		[wrong, words, "ragflow", "ragflow-put"],
		[wrong, "taken", undefined, "ragflow-put"],
		[wrong, "other", "unknown", "ragflow-put"],
		[words, wrong, "ragflow", "ragflow-patch"],
		["taken", wrong, undefined, "ragflow-patch"],
		// From v0.25.2 on PUT is an alias of PATCH.
		[words, words, "ragflow", "ragflow-patch"],
		[words, words, "unknown", "ragflow-patch"],
		["taken", "taken", "ragflow", "ragflow-patch"],
		["taken", "taken", "unknown", "ragflow-patch"],
		["taken", "taken", undefined, "ragflow-patch"],
		["taken", "other", undefined, "ragflow-patch"],
		[words, words, "documented", "ragflow-patch"],
		["taken", "taken", "documented", "documented"],
		// A proxy that drops PATCH stands before it.
		["other", words, "unknown", "ragflow-put"],
		["other", "taken", "ragflow", "ragflow-put"],
		["other", "other", "ragflow", "ragflow-put"],
		["other", wrong, "ragflow", "ragflow-patch"],
		// From v1.0 on PUT has no route.
		[words, "no_route", "ragflow", "ragflow-1.0"],
		[words, "no_route", "documented", "ragflow-1.0"],
		["taken", "no_route", undefined, "ragflow-1.0"],
		["other", "no_route", "ragflow", "ragflow-1.0"],
		["no_route", "no_route", "ragflow", "ragflow-put"],
		["no_route", "taken", "documented", "documented"],
		[wrong, wrong, "ragflow", undefined],
		["other", "other", "documented", "documented"],
		["other", "taken", "documented", "documented"],
		["other", "taken", "unknown", "documented"],
		["other", "other", undefined, "documented"],
	])("PATCH is %s, PUT is %s, the list is %s: %s", (patch, put, list, name) => {
		expect(flavours.find((flavour) => flavour.recognise({ patch, put, list }) !== undefined)?.name).toBe(name);
	});

	test.each<[string, DatasetListStyle]>([
		['{"code":0,"data":[{"id":"a","name":"b","chunk_method":"naive","parser_config":{}}]}', "ragflow"],
		[
			'{"code":0,"data":[{"id":"a","name":"b","chunk_method":"naive","parser_config":{}}],"message":"success"}',
			"ragflow",
		],
		['{"code":0,"data":[{"id":"a","name":"b","chunk_method":"naive","embedding_model":"x"}]}', "ragflow"],
		['{"code":0,"data":[{"id":"a","name":"b","chunk_method":"naive"}]}', "unknown"],
		['{"code":0,"data":[{"id":"a","name":"b"}],"total_datasets":1}', "unknown"],
		['{"code":0,"data":[]}', "unknown"],
		['{"code":0,"message":"","data":[]}', "unknown"],
		['{"code":0,"message":"Success","data":[]}', "documented"],
		['{"code":0,"message":"Success","data":[{"id":"a","name":"b"}]}', "documented"],
	])("a list of datasets %s is %s", (text, manner) => {
		const envelope = readEnvelope(text);
		expect(typeof envelope === "string" ? envelope : datasetListStyle(envelope)).toBe(manner);
	});

	test.each<[number, string, ProbeAnswer]>([
		[200, envelope(100, "<MethodNotAllowed '405: Method Not Allowed'>"), "wrong_verb"],
		[200, envelope(102, "You don't own the dataset."), "in_its_words"],
		[200, envelope(102, "the dataset doesn't own the document"), "in_its_words"],
		[200, envelope(102, "no such document"), "taken"],
		[200, envelope(500, "Request method 'PATCH' not supported"), "other"],
		[200, envelope(1, "Method PATCH not allowed"), "other"],
		[200, envelope(100, "KeyError('meta_fields')"), "taken"],
		[200, envelope(405, "does not take PATCH"), "other"],
		[200, envelope(404, "there is nothing"), "other"],
		[405, envelope(405, "no"), "other"],
		[404, envelope(404, "Not Found: /api/v1/datasets/0/documents/0"), "no_route"],
		[404, envelope(404, "no such document"), "other"],
		[404, envelope(102, "you don't own the dataset"), "in_its_words"],
		[400, envelope(102, "the dataset doesn't own the document"), "in_its_words"],
		[404, "<html>", "other"],
		[501, "Unsupported method", "other"],
		[500, "oh", "other"],
		[200, "<html><title>Login</title>", "other"],
		[200, '{"code":0}', "other"],
		[403, "WAF", "other"],
	])("a probe answered %i %s is %s", (status, text, seen) => {
		expect(readProbe(answerOf(status, text), documented, context)).toBe(seen);
	});

	test.each([
		[401, "", "KEY_REJECTED"],
		[200, envelope(109, "no"), "KEY_REJECTED"],
		[200, '{"code":0,"data":false}', "KEY_REJECTED"],
		[429, "", "HTTP_429"],
		[503, "", "HTTP_503"],
		[502, "", "HTTP_502"],
	])("a probe answered %i %s does not show the flavour and is an error: %s", (status, text, code) => {
		expect(() => readProbe(answerOf(status, text), documented, context)).toThrow(expect.objectContaining({ code }));
	});
});

describe("what a code means to each flavour", () => {
	const table: readonly [number, string, { documented: string; ragflow: string }][] = [
		[100, "x", { documented: "contradiction", ragflow: "contradiction" }],
		[405, "x", { documented: "contradiction", ragflow: "contradiction" }],
		[102, "405: Method Not Allowed", { documented: "contradiction", ragflow: "contradiction" }],
		[101, "x", { documented: "refused", ragflow: "refused" }],
		[102, "x", { documented: "refused", ragflow: "refused" }],
		[102, "You don't own the document d1.", { documented: "contradiction", ragflow: "not_found" }],
		[102, "The dataset doesn't own the document.", { documented: "contradiction", ragflow: "not_found" }],
		[102, "You don't own the dataset ds.", { documented: "contradiction", ragflow: "not_allowed" }],
		[105, "x", { documented: "refused", ragflow: "passing" }],
		[106, "x", { documented: "refused", ragflow: "passing" }],
		[500, "x", { documented: "passing", ragflow: "refused" }],
		[503, "x", { documented: "passing", ragflow: "refused" }],
		[401, "x", { documented: "key_refused", ragflow: "key_refused" }],
		[109, "x", { documented: "key_refused", ragflow: "key_refused" }],
		[108, "x", { documented: "not_allowed", ragflow: "not_allowed" }],
		[403, "x", { documented: "not_allowed", ragflow: "not_allowed" }],
		[404, "x", { documented: "not_found", ragflow: "not_found" }],
		[429, "x", { documented: "slow_down", ragflow: "slow_down" }],
	];
	test.each(table)("%i %s", (code, message, expected) => {
		expect(documented.meaning(code, message)).toBe(expected.documented);
		expect(ragflowPut.meaning(code, message)).toBe(expected.ragflow);
		expect(ragflowPatch.meaning(code, message)).toBe(expected.ragflow);
	});

	test.each([
		[102, "you don't own the dataset", "not_allowed"],
		[102, "you don't own the document d1", "not_found"],
		[102, "the dataset doesn't own the document", "not_found"],
		[102, "failed to update metadata: failed to execute update by query: dial tcp 10.0.0.1:9200", "metadata_refused"],
		[102, "failed to ensure metadata store: elasticsearch returned error: 503", "metadata_refused"],
		[102, "failed to delete document metadata: failed to check index existence: dial tcp 10.0.0.1:9200", "passing"],
		[102, "database operation failed", "database_away"],
		[102, "can't find this dataset", "passing"],
		[500, "Error 1040: Too many connections", "database_away"],
		[500, "failed to insert: dial tcp 10.0.0.1:5455: connect: connection refused", "database_away"],
		[500, "connection refused.pdf: This type of file has not been supported yet!", "refused"],
		[500, "a.exe: This type of file has not been supported yet!", "refused"],
		[1, "failed to get documents", "passing"],
		[109, "no authorization", "not_allowed"],
		[109, "x", "key_refused"],
		[404, "Not Found: /api/v1", "not_found"],
	])("%i %s of v1.0 is %s", (code, message, meaning) => {
		expect(ragflow1.meaning(code, message)).toBe(meaning);
	});

	test.each(flavours)("no flavour reads a refused key as a success: $name", (flavour) => {
		const error = classifyAnswer(answerOf(200, '{"code":0,"data":false}'), { flavour, context, now: 0 });
		expect(error).toBeInstanceOf(RestError);
		expect(error).toMatchObject({ kind: "untrusted", code: "KEY_REJECTED" });
	});
});

test.each([
	[ragflowPut, 200, envelope(102, "The dataset doesn't own the document."), "may"],
	[ragflowPut, 200, envelope(102, "You don't own the dataset."), "may_not"],
	[ragflowPatch, 200, envelope(102, "Field: <meta_fields> - Message: <x>"), "unknown"],
	[documented, 404, envelope(404, "no such document"), "may"],
	[documented, 404, "", "unknown"],
	[documented, 404, "<html>nginx", "unknown"],
	[documented, 403, "", "may_not"],
	[documented, 200, '{"code":0}', "unknown"],
] as const)("the right to update, read from $name's answer %i %s: %s", (flavour, status, text, right) => {
	expect(readRight(answerOf(status, text), flavour, context)).toBe(right);
});

describe("to a server recognised as RAGFlow only application/json is ever sent: v0.23 answers success to the part form", () => {
	it.each([ragflowPut, ragflowPatch, ragflow1])("$name", ({ update }) => expect(update.forms).toEqual(["json"]));
});

describe("how RAGFlow stores a list, so that reading back can distinguish a loss from a rule", () => {
	test.each<[JsonValue, JsonValue]>([
		[["a, b"], ["a", "b"]],
		[["a;b|c"], ["a", "b", "c"]],
		[["甲，乙、丙；丁"], ["甲", "乙", "丙", "丁"]],
		[[" a ", "a"], ["a"]],
		[
			[" ", ",;"],
			[" ", ",;"],
		],
		[["1", 1], ["1"]],
		[[], []],
		[
			[1, 1, true, "1"],
			[1, true],
		],
		["a, b", "a, b"],
		[" a ", " a "],
		[{ list: ["a,b"] }, { list: ["a,b"] }],
		[null, null],
	])("%j becomes %j", (sent, kept) => {
		expect(splitLists(new Map([["key", sent]])).get("key")).toEqual(kept);
	});
});

describe("v1.0, whose rules are those of Go", () => {
	test.each<[JsonValue, JsonValue]>([
		[
			["a, b;c", " a"],
			["a", "b", "c"],
		],
		[
			["1", 1, 1],
			["1", 1],
		],
		[["a\u0085"], ["a"]],
		[["a\u001c"], ["a\u001c"]],
		[
			[" ", ",;"],
			[" ", ",;"],
		],
		["a, b", "a, b"],
	])("keeps %j as %j", (sent, kept) => {
		expect(ragflow1.normalise(new Map([["key", sent]])).get("key")).toEqual(kept);
	});

	test.each<[JsonValue, boolean]>([
		["a", true],
		[1.5, true],
		[["a", 1], true],
		[[], true],
		[true, false],
		[[false], false],
		[null, false],
		[{ a: 1 }, false],
	])("takes %j: %s", (value, isTaken) => {
		expect(ragflow1.acceptsValue(value)).toBe(isTaken);
	});
});

it("a flavour is found by its name, and by no other", () => {
	expect(flavourNamed("ragflow-put")).toBe(ragflowPut);
	expect(flavourNamed("ragflow")).toBeUndefined();
});
