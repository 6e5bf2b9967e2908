import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globTest, hasWildcard, literalGlob } from "../../src/plan/glob.ts";

const matches = (pattern: string, name: string): boolean => globTest(pattern)(name);

describe("a pattern matches the documents that a shell would match, and no others", () => {
	it.each([
		["*", "", true],
		["*", "anything/at all\nwhatever", true],
		["*.pdf", "a.pdf", true],
		["*.pdf", "a.pdf.txt", false],
		["*.pdf", "a.PDF", false],
		["a.pdf", "aXpdf", false],
		["a?c", "abc", true],
		["a?c", "ac", false],
		["?", "😀", true],
		["??", "😀", false],
		["*??", "😀", false],
		["😀*😀", "😀😀", true],
		["*[!😀]", "😀", false],
		["[ab]*", "beta", true],
		["[ab]*", "gamma", false],
		["[a-c]1", "b1", true],
		["[!a-c]1", "b1", false],
		["[^a-c]1", "d1", true],
		["[a-]", "-", true],
		["[b-a]", "a", false],
		["[!b-a]", "a", true],
		["[!]", "[!]", true],
		["[]a]", "]", true],
		["[!]a]", "]", false],
		["[😀-😂]", "😁", true],
		["report[1].pdf", "report[1].pdf", false],
		["report[[]1].pdf", "report[1].pdf", true],
		["[*]", "*", true],
		["[*]", "x", false],
		["open[", "open[", true],
		["open[x", "open[x", true],
		["a\\*", "a\\b", true],
		["e\u0301", "é", false],
		["a**b", "ab", true],
		["*a*b*c*", "xxaxxbxxcxx", true],
		["*a*b*c*", "xxaxxcxxbxx", false],
		["", "", true],
		["", "a", false],
	])("%j and %j: %j", (pattern, name, expected) => {
		expect(matches(pattern, name)).toBe(expected);
	});
});

const letter = fc.constantFrom("a", "b", "A", ".", "-", "]", "[", "*", "?", "!", "^", "\n", "😀", "é");
const text = fc.array(letter, { maxLength: 8 }).map((letters) => letters.join(""));

it("a name that is escaped as a pattern matches itself and nothing else", () => {
	fc.assert(
		fc.property(text, text, (name, other) => {
			expect(matches(literalGlob(name), name)).toBe(true);
			if (other !== name) expect(matches(literalGlob(name), other)).toBe(false);
		}),
		{ numRuns: 2000 },
	);
	expect([hasWildcard("a.txt"), hasWildcard("a*"), hasWildcard("a?"), hasWildcard("a[")]).toEqual([
		false,
		true,
		true,
		true,
	]);
});

it("a hostile pattern does not stop the program: one regular expression with all stars takes years for these", () => {
	const name = "a".repeat(2000);
	expect(matches(`${"a*".repeat(900)}b`, name)).toBe(false);
	expect(matches(`${"*a".repeat(1000)}*b`, name)).toBe(false);
	expect(matches(`${"?*".repeat(500_000)}b`, name)).toBe(false);
});
