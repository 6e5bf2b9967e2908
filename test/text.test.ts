import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor, show, showLines } from "../src/text.ts";

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
				expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
				expect(shown.length).toBeLessThanOrEqual(max + 1);
			}),
		);
	});
});

describe("the key in a text of the service's", () => {
	const body = "AbCdEf0123456789xyz~";
	const redact = redactor(`ragflow-${body}`);

	test.each([
		["whole", `Bearer ragflow-${body}!`, "Bearer ***!"],
		["body", `<${body}>`, "<***>"],
		["a piece of 6", "you sent AbCdEf", "you sent ***"],
		["from its middle", "...456789...", "...***..."],
		["a piece of 5 stays", "AbCdE", "AbCdE"],
		["the prefix stays", "ragflow-", "ragflow-"],
		["twice", `${body} ${body}`, "*** ***"],
	])("%s", (_, text, masked) => {
		expect(redact(text)).toBe(masked);
	});

	test("percent-encoded, hexadecimal and Base64 forms leak it no less", () => {
		const wanted = [
			Buffer.from(body).toString("hex"),
			Buffer.from(body).toString("hex").toUpperCase(),
			...["", "a", "ab", "user:", "ragflow-"].map((before) => Buffer.from(before + body + "tail").toString("base64")),
		];
		for (const text of wanted) {
			const masked = redact(text);
			expect(masked).toContain("***");
			expect(masked.length).toBeLessThan(text.length - 16);
		}
		expect(redactor("k-a%b%c%d%e")(encodeURIComponent("a%b%c%d%e"))).toBe("***");
	});

	test("a key without a dash counts as body whole; a short one is masked whole only", () => {
		expect(redactor("abcdefgh")("xbcdefgx")).toBe("x***x");
		expect(redactor("k-ab")("the k-ab and ab")).toBe("the *** and ab");
		expect(redactor("")("text")).toBe("text");
	});

	test("no text shows 6 characters of it together", () => {
		const part = fc.oneof(
			fc.string(),
			fc.tuple(fc.nat(body.length), fc.nat(body.length)).map(([from, to]) => body.slice(from, to)),
		);
		fc.assert(
			fc.property(fc.array(part), (parts) => {
				const masked = redact(parts.join(""));
				for (let at = 0; at + 6 <= body.length; at++) expect(masked).not.toContain(body.slice(at, at + 6));
			}),
		);
	});
});

test.each([
	["a\n\tb", false, "a\n\tb"],
	["\u001b[2Jx\r\u009b1m\u0007\u202e", true, "\\x1b[2Jx\\x0d\\x9b1m\\x07\\u{202e}"],
	["\u001b[31mred\u001b[39m", true, "\u001b[31mred\u001b[39m"],
	["\u001b[31mred", false, "\\x1b[31mred"],
	["👨‍👩‍👧 ü", true, "👨‍👩‍👧 ü"],
])("a line with %j in it (colours: %s) moves no cursor", (text, colored, shown) => {
	expect(showLines(text, colored)).toBe(shown);
});
