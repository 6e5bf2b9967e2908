import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { show, showLines } from "../../src/text/show.ts";

describe("a foreign text on the terminal", () => {
	test.each([
		["\x1b[31mred", "\\x1b[31mred"],
		["\x9b31m", "\\x9b31m"],
		["a\r\nb\tc\x7f\0", "a\\x0d\\x0ab\\x09c\\x7f\\x00"],
		["user\u202Etxt.exe", "user\\u{202e}txt.exe"],
		["zero\u200Bwidth\uFEFF", "zero\\u{200b}width\\u{feff}"],
		["\u2028\u2029", "\\u{2028}\\u{2029}"],
		["half \uD83D pair", "half \\u{d83d} pair"],
		["tag \u{E0041}", "tag \\u{e0041}"],
		["family 👨‍👩‍👧, 👩🏽‍🔬, 🏳️‍🌈", "family 👨‍👩‍👧, 👩🏽‍🔬, 🏳️‍🌈"],
		["می\u200cخواهم, ක්\u200dෂ", "می\u200cخواهم, ක්\u200dෂ"],
		[
			"pay\u200cpal a\u200d👧 👨\u200d\u200d👩 م\u200c",
			"pay\\u{200c}pal a\\u{200d}👧 👨\\u{200d}\\u{200d}👩 م\\u{200c}",
		],
		["م\u202eخ", "م\\u{202e}خ"],
		["plain ü 漢 😀 \\", "plain ü 漢 😀 \\"],
	])("%j can't move the cursor, hide or turn text around", (text, shown) => {
		expect(show(text)).toBe(shown);
	});

	test("a long text does not push everything else off the screen, and no character is cut in half", () => {
		expect(show("x".repeat(200))).toBe("x".repeat(200));
		expect(show("x".repeat(201))).toBe(`${"x".repeat(200)}…`);
		expect(show("😀😀", 3)).toBe("😀…");
		expect(show("\x1b\x1b", 5)).toBe("\\x1b…");
		expect(show("x".repeat(10_000_000), 5)).toBe("xxxxx…");
	});

	test("whatever comes in, no control or format character comes out", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), fc.nat(300), (text, max) => {
				const shown = show(text, max);
				expect(shown).not.toMatch(/[^\P{Cf}\u200c\u200d]|[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u);
				expect(shown.length).toBeLessThanOrEqual(max + 1);
			}),
		);
	});
});

test.each([
	["a\n\tb", false, "a\n\tb"],
	["\u001b[2Jx\r\u009b1m\u0007\u202e", true, "\\x1b[2Jx\\x0d\\x9b1m\\x07\\u{202e}"],
	["\u001b[31mred\u001b[39m", true, "\u001b[31mred\u001b[39m"],
	["\u001b[31mred", false, "\\x1b[31mred"],
	["\u001b[8mhidden\u001b[30;40m\u009b31m", true, "\\x1b[8mhidden\\x1b[30;40m\\x9b31m"],
	["👨‍👩‍👧 ü", true, "👨‍👩‍👧 ü"],
])("a line with %j in it (colours: %s) moves no cursor", (text, colored, shown) => {
	expect(showLines(text, colored)).toBe(shown);
});
