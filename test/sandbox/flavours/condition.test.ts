import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import * as by from "../support.ts";
import { names, type Place, serve, update } from "./support.ts";

const filtering = ["ragflow-0.23", "ragflow-0.24", "ragflow-0.25", "ragflow-0.26", "ragflow-0.27"] as const;

/** The documents a to h, each by what its metadata are. */
const held: Readonly<Record<string, string>> = {
	a: '{"author":"Ana","year":9,"day":"2024-01-01"}',
	b: '{"author":["Ben","ANA"],"year":10,"day":"soon"}',
	c: '{"author":"","year":"11","day":"2024-06-30"}',
	d: '{"author":null,"year":"unknown"}',
	e: '{"author":[],"year":9.5}',
	f: "{}",
	g: '{"author":true,"year":"0010"}',
	h: '{"other":"x"}',
};

type Condition = readonly [key: string, operator: string, value: unknown];
type Row = readonly [from: Flavour, to: Flavour, Condition | readonly Condition[], found: string, logic?: string];

/**
 * What `meta_filter` (common/metadata_utils.py, v0.23.1 to v0.27.0) finds: by hand, from its code. Documents without the
 * key are in no row of it, whatever the operator.
 */
const rows: readonly Row[] = [
	["ragflow-0.23", "ragflow-0.27", ["author", "is", "ana"], "ab"],
	["ragflow-0.23", "ragflow-0.27", ["author", "not is", "Ana"], "bcg"],
	["ragflow-0.24", "ragflow-0.27", ["author", "!=", "Ana"], "bcg"],
	["ragflow-0.23", "ragflow-0.23", ["author", "!=", "Ana"], ""],
	["ragflow-0.23", "ragflow-0.27", ["author", "empty", ""], "c"],
	["ragflow-0.23", "ragflow-0.27", ["author", "not empty", ""], "abg"],
	["ragflow-0.23", "ragflow-0.27", ["author", "start with", "AN"], "ab"],
	["ragflow-0.23", "ragflow-0.27", ["author", "end with", "N"], "b"],
	["ragflow-0.23", "ragflow-0.27", ["nobody", "not is", "x"], ""],
	["ragflow-0.23", "ragflow-0.27", ["author", "like", "Ana"], ""],
	// v0.23 asks whether the stored text is in the wanted one.
	["ragflow-0.23", "ragflow-0.23", ["author", "contains", "Anabel"], "abc"],
	["ragflow-0.23", "ragflow-0.23", ["author", "contains", "n"], "c"],
	["ragflow-0.24", "ragflow-0.27", ["author", "contains", "N"], "ab"],
	["ragflow-0.24", "ragflow-0.27", ["author", "not contains", "n"], "cg"],
	["ragflow-0.24", "ragflow-0.27", ["author", "contains", 1], ""],
	["ragflow-0.23", "ragflow-0.27", ["author", "in", "ana, ben"], "abc"],
	["ragflow-0.23", "ragflow-0.25", ["author", "in", ["Ana"]], ""],
	["ragflow-0.26", "ragflow-0.27", ["author", "in", ["Ana"]], "ab"],
	["ragflow-0.26", "ragflow-0.27", ["author", "not in", ["Ana"]], "bcg"],
	// Numbers by what they are worth. "unknown" and "0010" are texts, which have no order with a number.
	["ragflow-0.23", "ragflow-0.27", ["year", "is", "9.0"], "a"],
	["ragflow-0.23", "ragflow-0.26", ["year", ">", "9.4"], "bce"],
	// To v0.27 two of which one is no number are texts: "unknown" comes after "9.4".
	["ragflow-0.27", "ragflow-0.27", ["year", ">", "9.4"], "bcde"],
	["ragflow-0.23", "ragflow-0.26", ["year", "<", 10], "ae"],
	["ragflow-0.23", "ragflow-0.26", ["year", "is", 10], "b"],
	// v0.27 makes numbers of both or of neither, and a JSON number is no text to make one of.
	["ragflow-0.27", "ragflow-0.27", ["year", "is", 10], ""],
	["ragflow-0.27", "ragflow-0.27", ["year", "<", 10], ""],
	["ragflow-0.24", "ragflow-0.26", ["year", "<=", "10"], "abe"],
	["ragflow-0.27", "ragflow-0.27", ["year", "<=", "10"], "abeg"],
	// Dates with dates alone, from v0.24 on.
	["ragflow-0.23", "ragflow-0.23", ["day", ">", "2024-01-01"], "bc"],
	["ragflow-0.24", "ragflow-0.27", ["day", ">", "2024-01-01"], "c"],
	["ragflow-0.24", "ragflow-0.27", ["day", "not is", "2024-01-01"], "c"],
	[
		"ragflow-0.23",
		"ragflow-0.27",
		[
			["author", "is", "Ana"],
			["year", "is", "10"],
		],
		"b",
	],
	[
		"ragflow-0.24",
		"ragflow-0.27",
		[
			["author", "is", "Ana"],
			["year", "is", "11"],
		],
		"abc",
		"or",
	],
	// A first condition that nothing meets is forgotten by v0.24 and v0.25; v0.23 ends there.
	[
		"ragflow-0.24",
		"ragflow-0.25",
		[
			["author", "is", "Zoe"],
			["year", "is", "11"],
		],
		"c",
	],
	[
		"ragflow-0.26",
		"ragflow-0.27",
		[
			["author", "is", "Zoe"],
			["year", "is", "11"],
		],
		"",
	],
	[
		"ragflow-0.23",
		"ragflow-0.23",
		[
			["author", "is", "Zoe"],
			["year", "is", "11"],
		],
		"",
		"or",
	],
	[
		"ragflow-0.24",
		"ragflow-0.27",
		[
			["author", "is", "Zoe"],
			["year", "is", "11"],
		],
		"c",
		"or",
	],
	// A key that no document has is no condition to v0.23.
	[
		"ragflow-0.23",
		"ragflow-0.23",
		[
			["nobody", "is", "x"],
			["author", "is", "Ana"],
		],
		"ab",
	],
	[
		"ragflow-0.26",
		"ragflow-0.27",
		[
			["nobody", "is", "x"],
			["author", "is", "Ana"],
		],
		"",
	],
	["ragflow-0.23", "ragflow-0.25", [], "abcdefgh"],
	["ragflow-0.26", "ragflow-0.27", [], ""],
];

describe.each(filtering)("the filter by metadata of %s", (flavour) => {
	test("finds what the server's own filter does, for each rule", async () => {
		const place = await filled(flavour);
		for (const [from, to, condition, found, logic] of rows) {
			if (flavour < from || flavour > to) continue;
			const all = isOne(condition) ? [condition] : condition;
			const conditions = all.map(([name, comparison_operator, value]) => ({ name, comparison_operator, value }));
			const text = JSON.stringify({ logic, conditions, always: 1 });
			const seen = await names(place, { metadata_condition: text });
			expect([text, seen.join("").replaceAll(".txt", "")]).toEqual([text, found]);
		}
	});

	test("says what it can't read", async () => {
		const place = await serve(flavour);
		const ask = (text: string) => by.list(place.sandbox, place.dataset, { metadata_condition: text });
		expect(await ask("{")).toMatchObject({ code: 102, message: expect.stringContaining("must be valid JSON") });
		expect(await ask("[1]")).toMatchObject({ code: 102, message: "metadata_condition must be an object." });
		const half = JSON.stringify({ conditions: [{ name: "a", value: 1 }] });
		expect(await ask(half)).toMatchObject({ code: 100, message: "KeyError('comparison_operator')" });
		expect((await ask("{}")).code).toBe(0);
	});
});

test.each(["ragflow-0.18", "ragflow-0.21"] as const)("%s knows no filter, and lists everything", async (flavour) => {
	const place = await serve(flavour, ["a.txt", "b.txt"]);
	expect(await names(place, { metadata_condition: '{"conditions":[{}]}' })).toEqual(["a.txt", "b.txt"]);
});

async function filled(flavour: Flavour): Promise<Place> {
	const place = await serve(
		flavour,
		Object.keys(held).map((name) => `${name}.txt`),
	);
	// PATCH releases take no null: it is as if the key were not there.
	for (const [at, text] of Object.values(held).entries())
		await update({ ...place, ids: place.ids.slice(at) }, flavour, text.replace(/"author":null,/, ""));
	return place;
}

function isOne(condition: Row[2]): condition is Condition {
	return typeof condition[0] === "string";
}
