import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looseNames } from "../../src/json/parse-json.ts";
import { parseMembers, parseValue } from "../../src/json/parser.ts";
import { JsonFault, type JsonRules } from "../../src/json/lexer.ts";
import type { JsonValue } from "../../src/json/values.ts";

const STRICT: JsonRules = { maxDepth: 100, maxString: 1000, maxFaults: 0 };
const PYTHON: JsonRules = { ...STRICT, maxString: Number.POSITIVE_INFINITY, number: Number };

/** Names that an object would reorder, swallow or inherit, and texts that look like the end of one. */
const name = fc.oneof(
	fc.string({ unit: "binary" }),
	fc.constantFrom("__proto__", "constructor", "10", "9", "", 'a"', "a\\", '\\"', '":{', "},", "\u2028", "\ud800"),
);

const { value } = fc.letrec<{ value: string }>((tie) => ({
	value: fc.oneof(
		{ depthSize: "small", withCrossShrink: true },
		fc.oneof(fc.constant(null), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }), name).map(textOf),
		fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(" , ")}]`),
		fc
			.array(fc.tuple(name, tie("value")), { maxLength: 4 })
			.map((all) => `{${all.map(([key, text]) => `${textOf(key)}\t:${text}`).join(",\n")}}`),
	),
}));

const members = fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([key]) => key });

function textOf(made: unknown): string {
	return JSON.stringify(made);
}

function objectText(all: readonly (readonly [string, string])[]): string {
	return ` { ${all.map(([key, text]) => `${textOf(key)}: ${text}`).join(" , ")} } `;
}

describe("a text is read as JSON.parse reads it", () => {
	it("whatever it holds", () => {
		fc.assert(
			fc.property(value, (text) => {
				expect(textOf(parseValue(text, PYTHON))).toBe(textOf(JSON.parse(text)));
			}),
			{ numRuns: 500 },
		);
	});

	it("and is refused where JSON.parse refuses it, wherever a character is lost, added or another", () => {
		const odd = fc.constantFrom(...'"\\{}[],:-+.e07 \u0001t'.split(""));
		fc.assert(
			fc.property(value, fc.nat(), fc.option(odd, { nil: "" }), fc.boolean(), (text, at, character, isAdded) => {
				const place = at % (text.length + 1);
				const edited = text.slice(0, place) + character + text.slice(place + (isAdded ? 0 : 1));
				expect(resultOf(() => parseValue(edited, PYTHON))).toBe(resultOf(() => JSON.parse(edited) as JsonValue));
			}),
			{ numRuns: 2000 },
		);
	});

	it("a string of escapes, too, whose length a pattern could not take", () => {
		const text = textOf('"\n'.repeat(4_000_000));
		expect(parseValue(text, PYTHON)).toBe(JSON.parse(text));
	});
});

/** What a reading gives, as text; `refused` where it throws what is wrong with the text. */
function resultOf(read: () => JsonValue): string {
	try {
		return textOf(read());
	} catch (error) {
		if (error instanceof SyntaxError) return "refused";
		throw error;
	}
}

describe("the members of an object", () => {
	it("come in the order of its text, each with the text of its value", () => {
		fc.assert(
			fc.property(members, (all) => {
				const text = objectText(all);
				const found = parseMembers(text, PYTHON);
				expect([...found].map(([key, { valueStart, end }]) => [key, text.slice(valueStart, end)])).toEqual(all);
				for (const { start, valueStart } of found.values()) expect(text.slice(start, valueStart)).toMatch(/^".*": $/s);
			}),
		);
	});

	it("have members where they are objects, in their order and at their places", () => {
		fc.assert(
			fc.property(name, members, (outer, all) => {
				const inner = objectText(all).trim();
				const text = objectText([[outer, inner]]);
				const nested = parseMembers(text, PYTHON).get(outer)?.members;
				expect([...(nested ?? [])].map(([key, { valueStart, end }]) => [key, text.slice(valueStart, end)])).toEqual(
					all,
				);
				expect(parseMembers('{"a":[{"b":1}]}', PYTHON).get("a")?.members).toBeUndefined();
			}),
		);
	});

	it("are named as often as they stand in the outermost object", () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (all) => {
				expect(looseNames(objectText(all))).toEqual(all.map(([key]) => key));
			}),
		);
	});
});

describe("what a strict reading refuses", () => {
	it.each([
		['{"a":1,"a":1}', "DUPLICATE_MEMBER", 7],
		['{"a":{"b":1,"b":1}}', "DUPLICATE_MEMBER", 12],
		["[1,12345678901234567890]", "BAD_NUMBER", 3],
		["[NaN]", "BAD_JSON", 1],
		[`[${textOf("x".repeat(1001))}]`, "TOO_LONG", 1],
		["[".repeat(101), "TOO_DEEP", 100],
		["[1,", "BAD_JSON", 3],
	])("%s", (text, code, offset) => {
		expect(() => parseValue(text, STRICT)).toThrow(expect.objectContaining({ code, offset }));
	});

	it("is all gathered, with the members in which it stands, up to as many faults as are wanted", () => {
		const faults: JsonFault[] = [];
		const text = '{"a":True,"b":{"c":01,"d":[1e400]},"b":2}';
		parseMembers(text, { ...STRICT, maxFaults: 4 }, faults);
		expect(faults.map(({ code, members: [outer, inner] }) => [code, outer, inner])).toEqual([
			["BAD_JSON", "a", null],
			["BAD_JSON", "b", "c"],
			["BAD_NUMBER", "b", "d"],
			["DUPLICATE_MEMBER", "b", null],
		]);
		expect(() => parseMembers(text, { ...STRICT, maxFaults: 3 }, [])).toThrow(JsonFault);
	});
});
