import { describe, expect, it } from "vitest";
import { parsePattern } from "../../src/files/path-pattern.ts";

describe("a pattern of paths", () => {
	it.each([
		[
			"{category}/{year:number}_{title}.pdf",
			"hr/2024_Leave policy.pdf",
			{ category: "hr", "year:number": "2024", title: "Leave policy" },
		],
		[
			"{category}/{year:number}_{title}.pdf",
			"hr/2024_a_b.pdf",
			{ category: "hr", "year:number": "2024", title: "a_b" },
		],
		["{category}/{title}.pdf", "x/hr/a.pdf", undefined],
		["**/{category}/{title}.pdf", "x/y/hr/a.pdf", { category: "hr", title: "a" }],
		["**/{category}/{title}.pdf", "hr/a.pdf", { category: "hr", title: "a" }],
		["*/{title}.*", "hr/a.b.pdf", { title: "a" }],
		["{title}.pdf", "hr/it/a.pdf", { title: "a" }],
		["./{folder}/{title}", "hr/a.pdf", { folder: "hr", title: "a.pdf" }],
		["{title}.pdf", "a.PDF", undefined],
		["{title}(1).p+f", "a(1).p+f", { title: "a" }],
		["{title}-{year}.pdf", "ä-2024.pdf", { title: "ä", year: "2024" }],
		["{title}.pdf", ".pdf", undefined],
	])("%s reads %s", (pattern, path, fields) => {
		const found = parsePattern(pattern)(path);
		expect(found && Object.fromEntries(found)).toEqual(fields);
	});

	it.each([
		["*.pdf", "has no field"],
		["{a}{b}.pdf", "two fields with nothing between them"],
		["{a}/{a}.pdf", "has {a} twice"],
		["{a}/{b.pdf", "a brace without its other one"],
		["{a}/b}.pdf", "a brace without its other one"],
	])("%s is refused, or it would match by chance", (pattern, why) => {
		expect(() => parsePattern(pattern)).toThrow(why);
	});
});
