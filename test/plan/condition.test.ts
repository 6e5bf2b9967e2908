import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue, Metadata } from "../../src/json/values.ts";
import { lacks, matches, meets, OPERATORS, valueText, type Where } from "../../src/plan/condition.ts";
import { conditionText as writtenCondition, parseCondition } from "../../src/plan/condition-text.ts";

type Asked = readonly [name: string, operator: string, value?: JsonValue | undefined];

function conditionText(asked: readonly Asked[], logic?: string): string {
	const conditions = asked.map(([name, operator, value]) => ({ name, comparison_operator: operator, value }));
	return JSON.stringify({ logic, conditions });
}

function conditionOf(asked: readonly Asked[], logic?: string) {
	const condition = parseCondition(conditionText(asked, logic));
	if (typeof condition === "string") throw new Error(condition);
	return condition;
}

const metadata: Metadata = new Map<string, JsonValue>([
	["team", "legal affairs"],
	["year", 2024],
	["id", "12345678901234567890"],
	["pages", "31"],
	["date", "2025-02-28"],
	["draft", false],
	["owner", null],
	["note", ""],
	["tags", ["hot", "a,b", 7]],
	["none", []],
	["origin", { a: 1 }],
]);

describe("--where-json means what RAGFlow means, on every kind of server", () => {
	it.each<readonly [string, string, JsonValue | undefined, boolean]>([
		["team", "is", "legal affairs", true],
		["team", "is", "legal", false],
		["team", "is", "Legal Affairs", true],
		["team", "not is", "LEGAL AFFAIRS", false],
		["team", "=", "Legal Affairs", true],
		["team", "≠", "LEGAL AFFAIRS", false],
		["team", "!=", "legal", true],
		["year", "=", "2024", true],
		["year", "is", 2024, true],
		["year", "is", "2024", true],
		["draft", "is", false, true],
		["year", "is", "2024.0", true],
		["year", "is", "2,024", false],
		["draft", "is", "FALSE", true],
		["id", "is", "12345678901234567890", true],
		["id", "is", "12345678901234567891", false],
		["owner", "is", "null", false],
		["note", "is", "", true],
		["tags", "is", "hot", true],
		["tags", "is", "a", false],
		["tags", "is", 7, true],
		["none", "is", "", false],
		["absent", "is", "", false],
		["__proto__", "is", "", false],
		["team", "not is", "legal", true],
		["tags", "not is", "hot", true],
		["absent", "not is", "x", false],
		["owner", "not is", "x", false],
		["none", "not is", "x", false],
		["date", "not is", "2025-02-27", true],
		["team", "not is", "2025-02-27", false],
		["__proto__", "not is", "x", false],
		["team", "contains", "legal", true],
		["team", "contains", "LEGAL", true],
		["team", "contains", "lawful", false],
		["tags", "contains", "ot", true],
		["owner", "contains", "n", false],
		["absent", "contains", "", false],
		["team", "not contains", "lawful", true],
		["tags", "not contains", "ot", true],
		["absent", "not contains", "x", false],
		["team", "in", ["sales", "legal affairs"], true],
		["team", "in", "sales, legal affairs", true],
		["team", "in", ["SALES", "Legal Affairs"], true],
		["team", "in", "sales", false],
		["year", "in", [2023, 2024], true],
		["tags", "in", ["a,b"], true],
		["tags", "in", "a,b", true],
		["tags", "in", "b,c", false],
		["team", "in", [], false],
		["team", "not in", [], true],
		["year", "not in", [2024], false],
		["absent", "not in", "x", false],
		["absent", "not in", ["x"], false],
		["team", "start with", "Legal", true],
		["team", "start with", "affairs", false],
		["team", "end with", "affairs", true],
		["tags", "end with", "t", true],
		["year", ">", 2023, true],
		["year", ">", "2024", false],
		["year", "<", 10_000, true],
		["year", "≥", 2024, true],
		["year", "≤", 2023.5, false],
		["pages", ">", 4, true],
		["pages", "<", "4", false],
		["date", "≥", "2025-01-01", true],
		["date", "<", "2025-02-28", false],
		["date", ">=", "2025-02-28", true],
		["date", "<=", "2025-02-27", false],
		["date", ">", 3, false],
		["year", "<", "2025-01-01", false],
		["team", ">", "7", true],
		["team", ">", 7, false],
		["year", ">", "a", false],
		["team", "<", "M", true],
		["id", ">", "12345678901234567889", true],
		["date", "≥", " 2025-02-28 ", true],
		["note", "<", "a", true],
		["owner", "<", "z", false],
		["absent", "<", "z", false],
		["tags", ">", 6, true],
		["note", "empty", undefined, true],
		["owner", "empty", undefined, false],
		["none", "empty", undefined, false],
		["absent", "empty", undefined, false],
		["absent", "not empty", undefined, false],
		["year", "empty", undefined, false],
		["draft", "not empty", undefined, true],
		["note", "not empty", undefined, false],
	])("%s %s %j: %j", (name, operator, value, found) => {
		expect(meets(metadata, conditionOf([[name, operator, value]]))).toBe(found);
	});

	it.each<[string | undefined, boolean]>([
		[undefined, false],
		["and", false],
		["or", true],
	])("joins by %s", (logic, found) => {
		const asked: Asked[] = [
			["year", "is", 2024],
			["team", "is", "sales"],
		];
		expect(meets(metadata, conditionOf(asked, logic))).toBe(found);
	});

	it("finds no document with unknown metadata, not even as one that lacks a key", () => {
		expect(meets(undefined, conditionOf([["a", "empty"]]))).toBe(false);
	});
});

describe("an invalid condition is reported, and does not find all or nothing", () => {
	it.each([
		["{", "not JSON"],
		["[]", "not an object"],
		["{}", 'no list "conditions"'],
		['{"conditions":[]}', "empty"],
		['{"logic":"xor","conditions":[]}', '"logic"'],
		['{"logical_operator":"or","conditions":[{}]}', '"logical_operator"'],
		['{"conditions":[1]}', "condition 1 is not an object"],
		['{"conditions":[{"comparison_operator":"is","value":"x"}]}', 'has no "name"'],
		['{"conditions":[{"name":"","comparison_operator":"is","value":"x"}]}', 'has no "name"'],
		['{"conditions":[{"name":"a","value":"x"}]}', 'has no "comparison_operator"'],
		['{"conditions":[{"name":"a","operator":"is","value":"x"}]}', '"operator"'],
		['{"conditions":[{"name":"a","comparison_operator":"like","value":"x"}]}', '"like"; there are: is, not is'],
		['{"conditions":[{"name":"a","comparison_operator":"empty"},{"name":"b"}]}', "condition 2"],
		['{"conditions":[{"name":"a","comparison_operator":"is"}]}', 'has no "value"'],
		['{"conditions":[{"name":"a","comparison_operator":"is","value":null}]}', "no text, number or boolean"],
		['{"conditions":[{"name":"a","comparison_operator":"is","value":["x"]}]}', "no text, number or boolean"],
		['{"conditions":[{"name":"a","comparison_operator":"in","value":[["x"]]}]}', "items that are no text"],
		['{"conditions":[{"name":"a","comparison_operator":"in","value":{}}]}', "no list, nor a text"],
		['{"conditions":[{"name":"a","comparison_operator":"in","value":7}]}', "no list, nor a text"],
	])("%s", (text, words) => {
		expect(parseCondition(text)).toEqual(expect.stringContaining(words));
	});
});

it("a recorded condition reads back as the same", () => {
	const value = fc.oneof(fc.string(), fc.integer(), fc.boolean());
	const test = fc.record({
		name: fc.string({ minLength: 1 }),
		comparison_operator: fc.constantFrom(...OPERATORS.filter((operator) => !operator.endsWith("in"))),
		value,
	});
	const choice = fc.record({
		name: fc.string({ minLength: 1 }),
		comparison_operator: fc.constantFrom("in", "not in"),
		value: fc.oneof(fc.string(), fc.array(value)),
	});
	const condition = fc.record({
		logic: fc.constantFrom("and", "or"),
		conditions: fc.array(fc.oneof(test, choice), { minLength: 1 }),
	});
	fc.assert(
		fc.property(condition, (asked) => {
			const read = parseCondition(JSON.stringify(asked));
			if (typeof read === "string") throw new Error(read);
			expect(parseCondition(writtenCondition(read))).toEqual(read);
		}),
	);
});

it("a negated condition finds no document without the key", () => {
	const value = fc.oneof(fc.string(), fc.integer(), fc.boolean());
	const asked = fc.tuple(fc.constantFrom(...OPERATORS), value);
	fc.assert(
		fc.property(asked, fc.dictionary(fc.constantFrom("b", "c"), fc.string()), ([operator, wanted], others) => {
			const condition = conditionOf([["a", operator, operator.endsWith("in") ? [wanted] : wanted]]);
			for (const held of [others, { ...others, a: null }, { ...others, a: [] }]) {
				expect(meets(new Map(Object.entries(held)), condition)).toBe(false);
			}
		}),
	);
});

describe("a negated condition is the opposite for a document with one value", () => {
	it.each([
		["is", "not is"],
		["contains", "not contains"],
		["in", "not in"],
		["empty", "not empty"],
	])("%s and %s", (positive, negative) => {
		const text = fc.oneof(fc.string(), fc.constantFrom("", "a", "A", "7", "7.0", "True"));
		fc.assert(
			fc.property(
				text,
				text.filter((wanted) => !/^\s*\d{4}-/.test(wanted)),
				(stored, wanted) => {
					const held: Metadata = new Map([["a", stored]]);
					const [is, not] = [positive, negative].map((operator) => meets(held, conditionOf([["a", operator, wanted]])));
					expect(is).toBe(!(not ?? false));
				},
			),
		);
	});
});

it.each<[readonly string[], boolean]>([
	[["absent"], true],
	[["absent", "other"], true],
	[["absent", "team"], false],
	[["owner"], false],
	[["none"], false],
	[["__proto__"], true],
])("--missing %j: %j, and a key with null or an empty value is present", (keys, found) => {
	expect(lacks(metadata, keys)).toBe(found);
	expect(lacks(undefined, keys)).toBe(false);
});

describe("a value as text", () => {
	it.each<[JsonValue | undefined, string]>([
		[undefined, ""],
		["", ""],
		["a b", "a b"],
		['"', '"'],
		[null, "null"],
		[false, "false"],
		[0, "0"],
		[1.5, "1.5"],
		[["a", 1], '["a",1]'],
		[{ a: [true] }, '{"a":[true]}'],
	])("of %j is %j", (value, text) => {
		expect(valueText(value)).toBe(text);
	});
});

describe("--where", () => {
	it.each<[readonly Where[], boolean]>([
		[[], true],
		[[["team", "legal affairs"]], true],
		[[["team", "Legal affairs"]], false],
		[[["year", "2024"]], true],
		[[["year", "2024.0"]], false],
		[[["draft", "false"]], true],
		[[["owner", "null"]], true],
		[[["owner", ""]], false],
		[[["note", ""]], true],
		[[["absent", ""]], false],
		[[["toString", ""]], false],
		[[["tags", "hot"]], true],
		[[["tags", "7"]], true],
		[[["tags", "a,b"]], true],
		[[["tags", "a"]], false],
		[[["none", ""]], false],
		[
			[
				["team", "legal affairs"],
				["year", "2024"],
			],
			true,
		],
		[
			[
				["team", "legal affairs"],
				["year", "2025"],
			],
			false,
		],
	])("%j keeps a document: %s", (conditions, kept) => {
		expect(matches(metadata, conditions)).toBe(kept);
	});

	it("keeps no document with unknown metadata, unless the filter is empty", () => {
		expect(matches(undefined, [["team", ""]])).toBe(false);
		expect(matches(undefined, [])).toBe(true);
	});
});
