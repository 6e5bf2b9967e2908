import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/json/values.ts";
import { Decoder } from "../../src/rest/decode.ts";
import type { ParsedEnvelope } from "../../src/rest/answer.ts";
import { readEnvelope } from "./decoded.ts";

const decode = new Decoder({ host: "host:1", redact: (text) => text });

function envelopeOf(data?: JsonValue): ParsedEnvelope {
	const envelope = readEnvelope(JSON.stringify({ code: 0, ...(data === undefined ? {} : { data }) }));
	if (typeof envelope === "string") throw new Error(envelope);
	return envelope;
}

const metadataOf = (meta_fields: JsonValue): unknown =>
	decode.documents(envelopeOf({ docs: [{ id: "d1", name: "n", meta_fields }] }), "set").items[0]?.metadata;

describe("the metadata that a list shows", () => {
	it.each<[string, JsonValue, [string, JsonValue][]]>([
		[
			"an object",
			{ a: 1, b: ["x"] },
			[
				["a", 1],
				["b", ["x"]],
			],
		],
		[
			"the text of an object, as a column of text keeps it",
			'{"a":1,"b":["x"]}',
			[
				["a", 1],
				["b", ["x"]],
			],
		],
		["the text of an empty one", "{}", []],
	])("is read from %s: otherwise a merge would remove it", (_, value, members) => {
		expect(metadataOf(value)).toEqual(new Map(members));
	});

	it.each<JsonValue>([null, "", "none", "{", "[]", '"{}"', "1", "null"])(
		"is unknown if it is %j: written values can't be compared with it",
		(value) => {
			expect(metadataOf(value)).toBeUndefined();
		},
	);

	it.each<JsonValue>([[], 1, true])("makes the answer unreadable if it is %j", (value) => {
		expect(() => metadataOf(value)).toThrow(expect.objectContaining({ kind: "ambiguous", code: "BAD_DATA" }));
	});

	it.each([
		["an object", (text: string): JsonValue => JSON.parse(text) as JsonValue],
		["text", (text: string): JsonValue => text],
	])("is not followed for ever, in %s", (_, of) => {
		const deep = `${'{"a":'.repeat(70)}1${"}".repeat(70)}`;
		expect(() => metadataOf(of(deep))).toThrow(expect.objectContaining({ code: "BAD_DATA" }));
	});
});

describe("the parsing that a list shows", () => {
	const parsingOf = (members: { [member: string]: JsonValue }): unknown =>
		decode.documents(envelopeOf({ docs: [{ id: "d1", name: "n", ...members }] }), "set").items[0]?.parsing;

	it("is absent where the service shows nothing of it", () => {
		expect(parsingOf({ size: 4 })).toBeUndefined();
	});

	it.each<[string, string, string | undefined]>([
		...["UNSTART", "RUNNING", "CANCEL", "DONE", "FAIL"].map((run): [string, string, string] => ["run", run, run]),
		["run", "SOMETHING", undefined],
		["ingestion_status", "UNSTART", "UNSTART"],
		["ingestion_status", "CREATED", "RUNNING"],
		["ingestion_status", "SCHEDULED", "RUNNING"],
		["ingestion_status", "RUNNING", "RUNNING"],
		["ingestion_status", "STOPPING", "RUNNING"],
		["ingestion_status", "STOPPED", "CANCEL"],
		["ingestion_status", "COMPLETED", "DONE"],
		["ingestion_status", "FAILED", "FAIL"],
		["ingestion_status", "constructor", undefined],
	])("has a %s of %s as the state %s, or a wait for it would never end", (member, value, run) => {
		expect(parsingOf({ [member]: value, chunk_count: 3 })).toMatchObject({ run, chunkCount: 3 });
	});

	it("has all that says how a document is parsed and found", () => {
		const shown = {
			run: "FAIL",
			progress: -1,
			progress_msg: "[ERROR]no",
			chunk_count: 0,
			parser_id: "naive",
			status: "0",
		};
		const read = { run: "FAIL", progress: undefined, message: "[ERROR]no", chunkCount: 0, chunkMethod: "naive" };
		expect(parsingOf(shown)).toEqual({ ...read, isEnabled: false });
		expect(parsingOf({ run: "DONE", progress: 1, status: "1" })).toMatchObject({ progress: 1, isEnabled: true });
	});
});

describe("how the success of an update names its document", () => {
	it.each<[JsonValue | undefined, string]>([
		[{ document_id: "d1" }, "document_id"],
		[{ document_id: "d1", id: "d1" }, "document_id"],
		[{ id: "d1", name: "n" }, "id"],
		[{}, "nothing"],
		[{ document_id: null }, "nothing"],
		[undefined, "nothing"],
		[null, "nothing"],
		[true, "nothing"],
		[[], "other"],
		[["d1"], "other"],
		[[{ document_id: "d1" }], "other"],
		["d1", "other"],
		["", "other"],
		[1, "other"],
		[0, "other"],
	])("%j is %s: an answer that a proven form never gave does not count for it", (data, echo) => {
		expect(decode.echo(envelopeOf(data), "d1")).toBe(echo);
	});

	it.each<[JsonValue, string]>([
		...[{ document_id: "d2" }, { id: "d2" }, { document_id: "d1", id: "d2" }, { document_id: ["d1"] }, { id: 1 }].map(
			(data): [JsonValue, string] => [data, "ECHO_MISMATCH"],
		),
		[{ id: "" }, "ECHO_MISMATCH"],
		[{ id: "D1" }, "OTHER_CASE"],
	])("%j is about another document, and no success of this one: %s", (data, code) => {
		const error = { kind: "ambiguous", code };
		expect(() => decode.echo(envelopeOf(data), "d1")).toThrow(expect.objectContaining(error));
	});
});

describe("a removal that is answered with code 0", () => {
	it.each<[JsonValue | undefined, boolean]>([
		[undefined, true],
		[{ success_count: 1 }, true],
		[{ deleted: 1 }, true],
		[{ success_count: 0 }, false],
		// RAGFlow v1.0 counts a document that it could not remove as none, and answers success.
		[{ deleted: 0 }, false],
		[{ success_count: 1, errors: ["no"] }, false],
	])("and data %j counts as applied: %s", (data, isApplied) => {
		const removed = (): void => decode.removed(envelopeOf(data), ["d1"], "body");
		if (isApplied) expect(removed).not.toThrow();
		else expect(removed).toThrow(expect.objectContaining({ code: "NOT_REMOVED" }));
	});
});
