import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkBytes } from "./support.ts";

describe("a fault in JSON is found where it stands", () => {
	const table: readonly (readonly [what: string, text: string, places: string])[] = [
		["a comma too many", '[{"document_id":"1","a":1,}]', "1:27 BAD_JSON"],
		["a member twice", '[{"document_id":"1","a":1,\n "a":2}]', "2:2 DUPLICATE_MEMBER"],
		["a number beyond a double", '{"document_id":"1","n":1e400}\n', "1:24 BAD_NUMBER"],
		["a number as an id", '{"document_id":1}\n', "1:16 BAD_ID"],
		["no id", '{"a":"x"}\n', "1:1 BAD_ID"],
		["a misspelt id", '{"documentId":"1"}\n', "1:2 UNKNOWN_MEMBER, 1:1 BAD_ID"],
		["a member beside meta_fields", '{"document_id":"1","meta_fields":{},"a":1}\n', "1:37 BESIDE_META_FIELDS"],
		["meta_fields that is no object", '{"document_id":"1","meta_fields":[]}\n', "1:34 META_FIELDS"],
		[
			"several faults of a row",
			'{"document_id":"","n":1e400,"n":2,"a":{"b":NaN},"c":"\\x","publish_date":"soon","d":[True,01]}\n',
			"1:23 BAD_NUMBER, 1:29 DUPLICATE_MEMBER, 1:44 BAD_JSON, 1:53 BAD_JSON, 1:85 BAD_JSON, 1:90 BAD_JSON, 1:16 BAD_ID, 1:73 BAD_DATE",
		],
		[
			"faults before one that ends the row",
			'{"document_id":"1","n":1e400 "a":1}\n{"document_id":""}',
			"1:24 BAD_NUMBER, 1:30 BAD_JSON, 2:16 BAD_ID",
		],
		["nothing but white space as an id", '{"document_id":" ","a":1}\n', "1:16 BAD_ID"],
		["a control character in an id", '{"document_id":"a\\u009bb","a":1}\n', "1:16 BAD_ID"],
		["an id of thousands of characters", `{"document_id":"${"x".repeat(5_000)}","a":1}\n`, "1:16 BAD_ID"],
		["a row that the end cuts off", '{"document_id":"1"}\r\n\r\n{"docu', "3:2 BAD_JSON"],
		["a text in place of rows", '"x"', "1:1 MISSING_COLUMN"],
		["half a surrogate pair in an id", '{"document_id":"1\\ud800","a":1}\n', "1:16 BAD_ID"],
		["a row that is no object", '[{"document_id":"1"},\n 7]', "2:2 BAD_JSON"],
		["an array that is not closed", '[{"document_id":"1"}', "1:21 BAD_JSON"],
		["a list not closed", '[{"document_id":"1","a":["x"},\n{"document_id":""}]', "1:29 BAD_JSON, 2:20 BAD_JSON"],
		["a bracket too many", '[{"document_id":"1","a":["x"]]},\n{"document_id":""}]', "1:30 BAD_JSON, 1:31 BAD_JSON"],
		["a brace too many", '[{"document_id":"1"}},\n{"document_id":""}]', "1:21 BAD_JSON"],
		["a bracket that closes the array too early", '[{"document_id":"1"}],\n{"document_id":""}\n]\n', "1:22 BAD_JSON"],
		["a missing brace", '[\n{"document_id":"1","a":{"b":1},\n{"document_id":"2"}\n]', "3:1 BAD_JSON, 4:2 BAD_JSON"],
		[
			"a row that the end cuts off, with a brace missing",
			'[\n{"document_id":"1","a":{"b":1},\n{"document_id":"2"},',
			"3:1 BAD_JSON",
		],
		[
			"rows before what ends the reading",
			'[{"document_id":""},\n{"document_id":""} 7]',
			"1:17 BAD_ID, 2:16 BAD_ID, 2:20 BAD_JSON",
		],
		["text after the array", "[]\nx", "2:1 BAD_JSON"],
		["an object over several lines", '{\n"document_id":"1"\n}\n', "1:1 NOT_JSON_LINES"],
		["two objects on a line", '{"document_id":"1"}{"document_id":"2"}\n', "1:20 BAD_JSON"],
		["a date inside meta_fields", '{"document_id":"1","meta_fields":{"publish_date":"2023-02-30"}}\n', "1:50 BAD_DATE"],
		["nesting without end", `{"document_id":"1","a":${"[".repeat(80)}${"]".repeat(80)}}\n`, "1:89 TOO_DEEP"],
		["a document with other values", '[{"document_id":"1","a":1},\n{"document_id":"1","a":2}]', "2:16 DUPLICATE"],
	];
	test.each(table)("%s", async (_, text, places) => {
		for (const chunk of [1, 5, 1000]) expect((await checkBytes(text, {}, chunk)).places.join(", ")).toBe(places);
	});
});

test("what docs list prints beside meta_fields is no fault, and a blank line is no row", async () => {
	const { rows } = await checkBytes(
		'{"document_id":"1","meta_fields":{"a":"x"},"size":1}\n\n{"document_id":"2","a":"y"}',
	);
	expect(rows.map(({ line, metadata }) => [line, ...metadata])).toEqual([
		[1, ["a", "x"]],
		[3, ["a", "y"]],
	]);
});

test("equal rows are sent once, whatever the order of their members", async () => {
	const { checked, rows } = await checkBytes(
		'{"document_id":"1","a":{"x":1,"y":2},"b":3}\n{"b":3,"document_id":"1","a":{"y":2,"x":1}}\n',
	);
	expect(checked).toMatchObject({ duplicateSkipped: 1, invalid: 0, problems: 0 });
	expect(rows.length).toBe(1);
});

test("keys of the prototype are data, and change no prototype", async () => {
	const { rows } = await checkBytes('{"document_id":"1","__proto__":{"x":{"__proto__":1}},"constructor":"c"}\n');
	expect(rows[0]?.metadata.has("__proto__")).toBe(true);
	expect(JSON.stringify(rows[0]?.metadata.get("__proto__"))).toBe('{"x":{"__proto__":1}}');
	expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
});

test("failed rows keep every member as it stood, numbers included", async () => {
	const { failed } = await checkBytes('[{"document_id":"1",\n "n": 1.0, "_error":"old"}]');
	expect(failed).toEqual([
		"",
		'{"document_id":"1","n": 1.0,"_line":7,"_error_code":"HTTP_500","_error":"said \\"no\\", twice","_attempts":3}\n',
	]);
});

test("no bracket or comma too many or too few is overlooked, wherever pieces of the text end", async () => {
	const value = fc.oneof(
		fc.constantFrom("a", "]", '"{'),
		fc.integer({ max: 99 }),
		fc.constant([1, {}]),
		fc.constant({ b: ["x"] }),
	);
	const rows = fc.uniqueArray(fc.nat({ max: 9 }), { minLength: 1, maxLength: 4 });
	const insert = fc.constantFrom("", "{", "}", "[", "]", ",");
	const fault = fc.record({ ids: rows, a: value, seed: fc.nat(), insert, chunk: fc.nat({ max: 9 }) });
	// A check waits for its files, so several are made at a time.
	const faults = fc.array(fault, { minLength: 10, maxLength: 10 });
	await fc.assert(
		fc.asyncProperty(faults, async (all) => {
			const checks = all.map(async ({ ids, a, seed, insert, chunk }) => {
				const whole = `[\n${ids.map((id) => JSON.stringify({ document_id: String(id), a })).join(",\n")}\n]\n`;
				const at = seed % whole.length;
				const text = whole.slice(0, at) + insert + whole.slice(insert === "" ? at + 1 : at);
				const [{ places, rows: read }, pieces] = await Promise.all([checkBytes(text), checkBytes(text, {}, chunk + 1)]);
				expect(pieces.places).toEqual(places);
				if (isJson(text)) return;
				expect([text, places]).not.toEqual([text, []]);
				expect(read.length).toBeLessThanOrEqual(ids.length);
			});
			await Promise.all(checks);
		}),
		{ numRuns: 50 },
	);
});

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}
