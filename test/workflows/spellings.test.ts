import { expect, it } from "vitest";
import { closest, spellings } from "../../src/workflows/values/spellings.ts";

it.each<[string[], [string, string[]][]]>([
	[
		["news", "News", "NEWS "],
		[
			["News", ["news"]],
			["NEWS ", ["news"]],
		],
	],
	[["press release", "press-release"], [["press-release", ["press release"]]]],
	[["category", "categry"], [["categry", ["category"]]]],
	[["travel", "tarvel"], [["tarvel", ["travel"]]]],
	[["Legal Department", "Department, Legal"], [["Department, Legal", ["Legal Department"]]]],
	[["resume of Zoë", "Résumé of Zoe"], [["Résumé of Zoe", ["resume of Zoë"]]]],
	// The order of digits is the value, and signs may be all that differs.
	[["May 2024-05-06", "May 2024-06-05"], []],
	[["C++", "C#"], []],
	// Other digits are another word, and of a short word one letter is too much.
	[["report 2024", "report 2025"], []],
	[["cat", "car"], []],
	[["news", "culture"], []],
	[[], []],
])("of %j, %j are probably misspellings", (words, like) => {
	expect([...spellings(words)]).toEqual(like);
});

it.each<[string, string[], string | undefined]>([
	["Category", ["category", "author"], "category"],
	["categori", ["category", "author"], "category"],
	["publish-date", ["publish_date"], "publish_date"],
	["nothing", ["category"], undefined],
	// Two are as near: neither is named.
	["cat", ["cab", "car"], undefined],
])("%s probably means the closest of %j: %s", (typed, known, found) => {
	expect(closest(typed, known)).toBe(found);
});
