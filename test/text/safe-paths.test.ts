import { isAbsolute, join, normalize, relative, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PathPlan } from "../../src/text/safe-paths.ts";

/** The path of a name that no other has. */
const safePath = (name: string): string => new PathPlan().of(name);

describe("the path of a name from a server", () => {
	it.each([
		["a.md", "a.md"],
		["hr/a.pdf", "hr/a.pdf"],
		["../../x", "x"],
		["a/../../../x", "a/x"],
		["/etc/passwd", "etc/passwd"],
		["//host/share", "host/share"],
		["C:\\x", "C__x"],
		["..\\..\\x", ".._.._x"],
		["", "_"],
		["...", "_"],
		[" . ", "_"],
		["CON", "_CON"],
		["nul.txt", "_nul.txt"],
		["com1 .log", "_com1 .log"],
		["a/Lpt9/b", "a/_Lpt9/b"],
		["console.txt", "console.txt"],
		["a\nb\0c\u007f", "a_b_c_"],
		["half\ud800", "half_"],
		["name. . .", "name"],
		["folder. /a.md ", "folder/a.md"],
		["  a.md", "a.md"],
		['<>:"|?*', "_______"],
		[".env", ".env"],
		[".ragtag-downloads.jsonl", "_.ragtag-downloads.jsonl"],
		[".RAGTAG-0.part", "_.RAGTAG-0.part"],
		["Zürich 日本.md", "Zürich 日本.md"],
	])("%j is %j", (name, path) => {
		expect(safePath(name)).toBe(path);
	});

	it("keeps the ending of a name that is too long, and cuts no letter in two", () => {
		const path = safePath(`${"é".repeat(300)}.pdf`);
		expect(Buffer.byteLength(path)).toBeLessThanOrEqual(255);
		expect(path).toMatch(/^é+\.pdf$/);
		expect(Buffer.byteLength(safePath(`${"日".repeat(100)}/${"x".repeat(400)}`))).toBeLessThanOrEqual(511);
		expect(safePath(`${"a/".repeat(500)}b.md`)).toBe("b.md");
	});
});

const odd = fc.constantFrom(
	"..",
	".",
	"/",
	"\\",
	"C:",
	"\0",
	"\n",
	"con",
	"NUL",
	"~",
	" ",
	"a",
	"A",
	"é",
	"e\u0301",
	"…",
	"．．",
	".ragtag-",
);
const name = fc.oneof(
	fc.string({ unit: "binary", maxLength: 40 }),
	fc.array(fc.oneof(odd, fc.string({ maxLength: 3 })), { maxLength: 12 }).map((parts) => parts.join("")),
	fc.array(odd, { maxLength: 12 }).map((parts) => parts.join("/")),
);

describe("no name from a server", () => {
	it("leaves the folder, on any system", () => {
		fc.assert(
			fc.property(name, (text) => {
				const path = safePath(text);
				expect(isAbsolute(path) || win32.isAbsolute(path)).toBe(false);
				const there = win32.join("C:\\out", path);
				expect(win32.relative("C:\\out", there).replaceAll("\\", "/")).toBe(path);
				expect(normalize(path)).toBe(path);
				expect(relative("/out", join("/out", path))).toBe(path);
				expect(path).not.toMatch(/[\p{Cc}\p{Surrogate}\\:]/u);
				for (const part of path.split("/")) {
					expect(part).not.toMatch(/^$|^\.\.?$|[. ]$|^\.ragtag-/i);
					expect(Buffer.byteLength(part)).toBeLessThanOrEqual(240);
				}
			}),
			{ numRuns: 2_000 },
		);
	});

	it("takes the file of another, on a file system without letter case either", () => {
		fc.assert(
			fc.property(fc.array(name, { maxLength: 30 }), (names) => {
				const plan = new PathPlan();
				const keys = names.map((each) => plan.of(each).normalize("NFC").toLowerCase());
				expect(new Set(keys).size).toBe(names.length);
				// A file is no folder of another.
				for (const key of keys) expect(keys.some((other) => other.startsWith(`${key}/`))).toBe(false);
			}),
			{ numRuns: 500 },
		);
	});

	it("loses its ending by its number", () => {
		const plan = new PathPlan();
		const names = ["a.md", "A.MD", "a.md", "hr", "hr/b.md", "hr/c", "é.md", "e\u0301.md", ".env", ".env"];
		expect(names.map((each) => plan.of(each))).toEqual([
			"a.md",
			"A (1).MD",
			"a (2).md",
			"hr",
			"hr__b.md",
			"hr__c",
			"é.md",
			"e\u0301 (1).md",
			".env",
			".env (1)",
		]);
	});
});

describe("a recorded path", () => {
	it("is used again only where the name may have it: the record is a file that others can write", () => {
		expect(PathPlan.mayHave("a.md", "a (3).md")).toBe(true);
		expect(PathPlan.mayHave("hr/a.md", "hr__a.md")).toBe(true);
		for (const path of ["../a.md", "/etc/passwd", "b.md", "a.md/x", "manifest.csv"])
			expect(PathPlan.mayHave("a.md", path)).toBe(false);
	});
});
