import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDoubleInFull, survivesDouble } from "../../src/json/numbers.ts";
import { Decoder } from "../../src/rest/decode.ts";
import { readEnvelope } from "./decoded.ts";
import type { Document } from "../../src/rest/types.ts";

const decode = new Decoder({ host: "host:1", redact: (text) => text });

/** The documents of a list whose entries have these texts as their `meta_fields`. */
function listed(...fields: readonly string[]): readonly Document[] {
	const docs = fields.map((text, n) => `{"id":"d${n}","name":"n","dataset_id":"set","meta_fields":${text}}`);
	const envelope = readEnvelope(`{"code":0,"data":{"total":${docs.length},"docs":[${docs.join(",")}]}}`);
	if (typeof envelope === "string") throw new Error(envelope);
	return decode.documents(envelope, "set").items;
}

const inexactOf = (text: string): unknown => {
	const [document] = listed(text);
	return document?.inexact === undefined ? undefined : Object.fromEntries(document.inexact);
};

describe("a number that a double can't hold would be written back as another one", () => {
	it.each([
		"12345678901234567890",
		"-12345678901234567890",
		"9007199254740993",
		// Its double is exact, and is written as 36028797018963970.
		"36028797018963968",
		"1e400",
		"-1E+400",
		"1e-400",
		"0.1234567890123456789",
		"0.10000000000000000001",
		"999999999999999.99",
		"12345678.123456789012",
		"12345678901234567891e3",
	])("%s is recognised", (digits) => {
		expect(inexactOf(`{"n":${digits}}`)).toEqual({ n: digits });
		expect(inexactOf(`{ "n" :\t${digits}\n}`)).toEqual({ n: digits });
	});

	it.each([
		"0",
		"-0",
		"7",
		"1700000000000",
		"9007199254740992",
		"1234567890123456800",
		"1.0",
		"1e3",
		"1E+20",
		"0.1",
		"0.30000000000000004",
		"123456789.1234567",
		"1.7976931348623157e308",
		// A double in 17 digits, as some services write all of theirs.
		"0.10000000000000001",
		"1.0000000000000000e-01",
		"0.12345678901234568",
	])("%s is not one: its document can be merged", (digits) => {
		expect(inexactOf(`{"n":${digits}}`)).toBeUndefined();
	});

	it.each<[string, string, object | undefined]>([
		["a list", '{"a":[1,12345678901234567890],"b":1}', { a: "[1,12345678901234567890]" }],
		["an object in an object", '{"a":{"b":{"c":[1e400,"1e400"]}}}', { a: '{"b":{"c":[1e400,"1e400"]}}' }],
		["a key that steers objects", '{"__proto__":1e400,"b":1}', { ["__proto__"]: "1e400" }],
		["the last of two members of one name, which counts", '{"a":1,"a":1e400}', { a: "1e400" }],
		["the first of them, which no one reads", '{"a":1e400,"a":1}', undefined],
		["a text", '{"a":"12345678901234567890","b":":1e400,"}', undefined],
		["a text behind escaped quotes", String.raw`{"a":"\":12345678901234567890,\\","b":"\\\":1e400"}`, undefined],
		["a key", '{"12345678901234567890":1,",1e400":2}', undefined],
		["text that looks like it, beside a number that is", '{"a":":1e400","b":1e400}', { b: "1e400" }],
		["text of JSON", JSON.stringify('{"a": 12345678901234567890, "b": 1}'), { a: "12345678901234567890" }],
		["text of JSON whose digits are escaped", String.raw`"{\"a\":\u0031e400}"`, { a: "1e400" }],
		["a text in text of JSON", JSON.stringify('{"a": ":12345678901234567890"}'), undefined],
	])("is found in %s", (_, text, keys) => {
		const [document] = listed(text);
		expect(document?.inexact).toEqual(keys === undefined ? undefined : new Map(Object.entries(keys)));
	});

	it("is attributed to its own document, and to no other of the list", () => {
		const documents = listed('{"a":1}', '{"a":1e400}', "null", '{"a":"1e400"}', '{"b":{"c":1e400}}');
		expect(documents.map(({ inexact }) => inexact && [...inexact.keys()])).toEqual([
			undefined,
			["a"],
			undefined,
			undefined,
			["b"],
		]);
		expect(documents[0]?.inexact).toBeUndefined();
	});

	it("is found after a byte order mark", () => {
		const text = '\uFEFF{"code":0,"data":{"docs":[{"id":"d","name":"n","meta_fields":{"a":1e400}}]}}';
		const envelope = readEnvelope(text);
		if (typeof envelope === "string") throw new Error(envelope);
		expect(decode.documents(envelope, "set").items[0]?.inexact).toEqual(new Map([["a", "1e400"]]));
	});
});

/** A number as a service may write it. */
const digits = fc.oneof(
	fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }).map(String),
	fc.tuple(fc.nat(), fc.stringMatching(/^\d{1,20}$/)).map(([whole, fraction]) => `${whole}.${fraction}`),
	fc.tuple(fc.nat(99), fc.integer({ min: -420, max: 420 })).map(([whole, power]) => `${whole}e${power}`),
	fc.integer().map(String),
);

/** Texts that would fool whoever looks for digits without knowing where a text ends. */
const odd = fc.oneof(
	fc.string({ unit: "binary" }),
	fc
		.array(fc.constantFrom('"', "\\", ":", ",", "[", "{", " ", "1e400", "12345678901234567890"))
		.map((all) => all.join("")),
);

/**
 * Names of members. `JSON.parse` of Node 26.10 may read a name that is one escaped character, such as `"\\""`, as a backslash,
 * after it has read many objects (seen with the seed 2007888379). So no such name is asked of it here.
 */
const names = odd.filter((name) => name.length !== 1 || JSON.stringify(name).length === 3);

/** JSON text, and whether a number in it is lost. */
type Written = { readonly text: string; readonly isLost: boolean };

const { value } = fc.letrec<{ value: Written }>((tie) => ({
	value: fc.oneof(
		{ depthSize: "small", withCrossShrink: true },
		digits.map((text) => ({ text, isLost: !survivesDouble(text) && !isDoubleInFull(text) })),
		odd.map((text) => ({ text: JSON.stringify(text), isLost: false })),
		fc.array(tie("value"), { maxLength: 4 }).map((all) => ({
			text: `[${all.map(({ text }) => text).join(", ")}]`,
			isLost: all.some(({ isLost }) => isLost),
		})),
		fc.uniqueArray(fc.tuple(names, tie("value")), { maxLength: 4, selector: ([key]) => key }).map((all) => ({
			text: `{${all.map(([key, { text }]) => `${JSON.stringify(key)} : ${text}`).join(",")}}`,
			isLost: all.some(([, { isLost }]) => isLost),
		})),
	),
}));

const members = fc.uniqueArray(fc.tuple(names, value), { maxLength: 5, selector: ([key]) => key });

it("is found in any place, and nothing else is, whatever the text around it", () => {
	fc.assert(
		fc.property(fc.array(members, { minLength: 1, maxLength: 3 }), fc.boolean(), (documents, asText) => {
			const fields = documents.map((all) => {
				const text = `{${all.map(([key, { text: inner }]) => `${JSON.stringify(key)}:${inner}`).join(",\n")}}`;
				return asText ? JSON.stringify(text) : text;
			});
			const found = listed(...fields).map(({ inexact }) => [...(inexact?.keys() ?? [])].toSorted());
			const lost = documents.map((all) => all.filter(([, { isLost }]) => isLost).map(([key]) => key));
			expect(found).toEqual(lost.map((keys) => keys.toSorted()));
		}),
		{ numRuns: 400 },
	);
});

it("the text of such a value is the service's own text", () => {
	fc.assert(
		fc.property(value, ({ text, isLost }) => {
			const [document] = listed(`{"k":${text}}`);
			const exact = document?.inexact?.get("k");
			expect(exact !== undefined).toBe(isLost);
			if (exact === undefined) return;
			// Written again by the plain reading, both come to the same value.
			expect(JSON.parse(exact)).toEqual(document?.metadata?.get("k"));
			// And each of its numbers is there by its digits.
			const [again] = listed(`{"k":${exact}}`);
			expect(again?.inexact?.get("k")).toBe(exact);
		}),
	);
});
