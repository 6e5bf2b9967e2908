import { describe, expect, it } from "vitest";
import { TypedKeys } from "../../src/json/typed-keys.ts";
import { type JsonValue, type Metadata, metadataOf } from "../../src/json/values.ts";

const k = (value: JsonValue): Metadata => new Map([["k", value]]);

function known(...values: readonly JsonValue[]): TypedKeys {
	const keys = new TypedKeys();
	for (const value of values) keys.addDocument(k(value));
	return keys;
}

/** Values that documents have, then values that fit, then others with the clash. */
const rows: readonly (readonly [
	has: readonly JsonValue[],
	fits: readonly JsonValue[],
	clashes: readonly (readonly [JsonValue, string])[],
])[] = [
	[
		[4, 5],
		[6, 7.5, "7", "7.5", "", null, [], [6, "7"], 2 ** 62],
		[
			["n/a", 'k: the service holds numbers, and "n/a" is text'],
			[true, "k: the service holds numbers, and true is a boolean"],
			["2024-05-01", 'k: the service holds numbers, and "2024-05-01" is a date'],
			[1e21, "k: the service holds smaller numbers, and 1e+21 is a number"],
			[[6, "x"], 'k: the service holds numbers, and "x" is text'],
		],
	],
	[[4.5], [1e21, "7"], [[1e39, "k: the service holds smaller numbers, and 1e+39 is a number"]]],
	[[true], [false, "true", ""], [[1, "k: the service holds booleans, and 1 is a number"]]],
	[
		["2024-05-01"],
		["2024", "2024-05", "2024-02-29T10:00:00Z", 7, "7"],
		[
			["soon", 'k: the service holds dates, and "soon" is text'],
			["2024-02-30", 'k: the service holds dates, and "2024-02-30" is text'],
			["2024/05/01", 'k: the service holds dates, and "2024/05/01" is a date with slashes'],
			["", 'k: the service holds dates, and "" is text'],
			[false, "k: the service holds dates, and false is a boolean"],
		],
	],
	[
		["2024/05/01", "2024/05/01 10:00:00"],
		[7],
		[["2024-05-01", 'k: the service holds dates with slashes, and "2024-05-01" is a date']],
	],
	[
		["x"],
		[1, true, "2024-05-01", 1e39, 10 ** 20, ["x", 1]],
		[[{ a: 1 }, 'k: the service holds texts under k, and {"a":1} is an object']],
	],
	// One of the two was first; only a text takes both.
	[[4, "n/a"], ["x", 1, true], []],
	[["2024-05-01", "soon"], ["x"], []],
	// Neither made a type that takes the other, so another dataset did.
	[[4, true], ["x"], []],
	[["2024"], ["x"], []],
	[["7"], ["x"], []],
	[
		[],
		["x", 1, ["a", "b"], [1, 2]],
		[
			[[1, "x"], 'k: "x" is text, and beside it are numbers; a new key takes one type'],
			[[1, 1.5], "k: whole numbers and fractions are mixed; a new key takes one type"],
			[10 ** 20, "k: 100000000000000000000 is a number that is too large"],
			[1e39, "k: 1e+39 is a number that is too large"],
		],
	],
];

describe.each(rows)("a key under which documents have %j", (has, fits, clashes) => {
	it("takes what its type takes, and nothing that would cost a document all its metadata", () => {
		for (const value of fits) expect([value, known(...has).clashes(k(value))]).toEqual([value, []]);
		for (const [value, text] of clashes) {
			expect([value, known(...has).clashes(k(value))]).toEqual([value, [{ key: "k", text }]]);
		}
	});
});

describe("keys with dots, and keys that no engine takes", () => {
	it.each(["", " ", ".", ".a", "a. .b"])("refuses %j", (key) => {
		expect(new TypedKeys().clashes(new Map([[key, 1]]))).toMatchObject([{ key }]);
	});

	it.each([
		[{ a: "x" }, { "a.b": 1 }, "a.b: the service holds texts under a, and a key with a dot is an object"],
		[{ "a.b": 1 }, { a: "x" }, 'a: the service holds objects, and "x" is text'],
		[{ "a.b": 1 }, { "a.b": "x" }, 'a.b: the service holds numbers, and "x" is text'],
		[{ a: { b: 1 } }, { "a.b": "x" }, 'a.b: the service holds numbers, and "x" is text'],
		[{ a: 1 }, { "a.": "x" }, 'a.: the service holds numbers, and "x" is text'],
	])("beside %j, %j is refused", (has, sent, text) => {
		const keys = new TypedKeys();
		keys.addDocument(metadataOf(has));
		expect(keys.clashes(metadataOf(sent)).map((clash) => clash.text)).toEqual([text]);
	});
});

describe("rows, which are sent in their order", () => {
	it("give a new key its type by the first, and name its line", () => {
		const keys = new TypedKeys();
		expect(keys.addRow(k(4), 2)).toEqual([]);
		expect(keys.addRow(k("7"), 3)).toEqual([]);
		expect(keys.addRow(k("n/a"), 4)).toEqual([{ key: "k", text: 'k: line 2 has numbers, and "n/a" is text' }]);
		expect(keys.addRow(k(5), 5)).toEqual([]);
	});

	it("give none where one of their values is refused", () => {
		const keys = new TypedKeys();
		keys.addDocument(k(1));
		expect(keys.addRow(metadataOf({ new: 1, k: "x" }), 2)).toHaveLength(1);
		expect(keys.addRow(metadataOf({ new: "x" }), 3)).toEqual([]);
	});

	it("narrow what documents leave open", () => {
		const keys = known("2024-05-01", "2024");
		expect(keys.addRow(k("2024-05-02"), 2)).toEqual([]);
		expect(keys.addRow(k("soon"), 3)).toEqual([]);
	});
});

describe("a refusal by the service is explained where no value is certain not to fit", () => {
	it("by a key that has one of two types, since one of them does not take the value", () => {
		const keys = known(4, "7");
		keys.addDocument(metadataOf({ author: "Ann" }));
		const sent = metadataOf({ k: "n/a", author: "Bob" });
		expect(keys.clashes(sent)).toEqual([]);
		expect(keys.reasons(sent)).toEqual([
			{ key: "k", text: 'k: the service holds numbers or texts, and "n/a" is text' },
		]);
	});

	it.each([
		["new", "x"],
		["year", "soon"],
	])("by %s, to which an earlier value may have given a type", (key, value) => {
		const keys = known("Ann");
		keys.addDocument(metadataOf({ year: "2024" }));
		const text = `${key}: "${value}" is text, and an earlier value, perhaps in another dataset, may have given this key another type`;
		expect(keys.reasons(metadataOf({ [key]: value, k: "Bob" }))).toEqual([{ key, text }]);
	});

	it("but by what is certain alone, where there is some", () => {
		expect(known(4).reasons(metadataOf({ k: "n/a", new: "x" }))).toMatchObject([{ key: "k" }]);
	});
});
