import { describe, expect, test } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { names, type Place, serve, update } from "./support.ts";

const filtering = ["ragflow-0.23", "ragflow-0.24", "ragflow-0.25", "ragflow-0.26", "ragflow-0.27"] as const;

/** The metadata of the documents a to h. */
const metadata: Readonly<Record<string, string>> = {
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
type Row = {
	/** the first and the last release that find the same */
	readonly first: string;
	readonly last: string;
	readonly conditions: readonly Condition[];
	/** the names of the documents that are found */
	readonly found: string;
	readonly logic?: "or";
};

function row(first: string, last: string, condition: Condition, found: string): Row {
	return { first, last, conditions: [condition], found };
}

const isAna: Condition = ["author", "is", "Ana"];
const isZoe: Condition = ["author", "is", "Zoe"];
const year10: Condition = ["year", "is", "10"];
const year11: Condition = ["year", "is", "11"];
const unknownKey: Condition = ["unknown", "is", "x"];

/**
 * What `meta_filter` (common/metadata_utils.py, v0.23.1 to v0.27.0) finds, derived by hand from its code. Documents
 * without the key are in no row, whatever the operator.
 */
const rows: readonly Row[] = [
	row("0.23", "0.27", ["author", "is", "ana"], "ab"),
	row("0.23", "0.27", ["author", "not is", "Ana"], "bcg"),
	row("0.24", "0.27", ["author", "!=", "Ana"], "bcg"),
	row("0.23", "0.23", ["author", "!=", "Ana"], ""),
	row("0.23", "0.27", ["author", "empty", ""], "c"),
	row("0.23", "0.27", ["author", "not empty", ""], "abg"),
	row("0.23", "0.27", ["author", "start with", "AN"], "ab"),
	row("0.23", "0.27", ["author", "end with", "N"], "b"),
	row("0.23", "0.27", ["unknown", "not is", "x"], ""),
	row("0.23", "0.27", ["author", "like", "Ana"], ""),
	// v0.23 searches the stored text in the wanted one.
	row("0.23", "0.23", ["author", "contains", "Anabel"], "abc"),
	row("0.23", "0.23", ["author", "contains", "n"], "c"),
	row("0.24", "0.27", ["author", "contains", "N"], "ab"),
	row("0.24", "0.27", ["author", "not contains", "n"], "cg"),
	row("0.24", "0.27", ["author", "contains", 1], ""),
	row("0.23", "0.27", ["author", "in", "ana, ben"], "abc"),
	row("0.23", "0.25", ["author", "in", ["Ana"]], ""),
	row("0.26", "0.27", ["author", "in", ["Ana"]], "ab"),
	row("0.26", "0.27", ["author", "not in", ["Ana"]], "bcg"),
	// Numbers are compared by value. "unknown" and "0010" are texts, which have no order with a number.
	row("0.23", "0.27", ["year", "is", "9.0"], "a"),
	row("0.23", "0.26", ["year", ">", "9.4"], "bce"),
	// v0.27 compares two values as text unless both are numbers: "unknown" comes after "9.4".
	row("0.27", "0.27", ["year", ">", "9.4"], "bcde"),
	row("0.23", "0.26", ["year", "<", 10], "ae"),
	row("0.23", "0.26", ["year", "is", 10], "b"),
	// v0.27 reads both texts as numbers or neither, and a JSON number is not a text.
	row("0.27", "0.27", ["year", "is", 10], ""),
	row("0.27", "0.27", ["year", "<", 10], ""),
	row("0.24", "0.26", ["year", "<=", "10"], "abe"),
	row("0.27", "0.27", ["year", "<=", "10"], "abeg"),
	// From v0.24 on dates are compared with dates alone.
	row("0.23", "0.23", ["day", ">", "2024-01-01"], "bc"),
	row("0.24", "0.27", ["day", ">", "2024-01-01"], "c"),
	row("0.24", "0.27", ["day", "not is", "2024-01-01"], "c"),
	{ first: "0.23", last: "0.27", conditions: [isAna, year10], found: "b" },
	{ first: "0.24", last: "0.27", conditions: [isAna, year11], found: "abc", logic: "or" },
	// v0.24 and v0.25 forget a first condition that no document meets; v0.23 finds nothing then.
	{ first: "0.24", last: "0.25", conditions: [isZoe, year11], found: "c" },
	{ first: "0.26", last: "0.27", conditions: [isZoe, year11], found: "" },
	{ first: "0.23", last: "0.23", conditions: [isZoe, year11], found: "", logic: "or" },
	{ first: "0.24", last: "0.27", conditions: [isZoe, year11], found: "c", logic: "or" },
	// v0.23 ignores a condition on a key that no document has.
	{ first: "0.23", last: "0.23", conditions: [unknownKey, isAna], found: "ab" },
	{ first: "0.26", last: "0.27", conditions: [unknownKey, isAna], found: "" },
	{ first: "0.23", last: "0.25", conditions: [], found: "abcdefgh" },
	{ first: "0.26", last: "0.27", conditions: [], found: "" },
];

describe.each(filtering)("the filter by metadata of %s", (flavour) => {
	test("finds the documents that the server's own filter finds, in each row", async () => {
		const place = await filled(flavour);
		for (const { first, last, conditions, found, logic } of rows) {
			if (flavour < `ragflow-${first}` || flavour > `ragflow-${last}`) continue;
			const sent = conditions.map(([name, comparison_operator, value]) => ({ name, comparison_operator, value }));
			const text = JSON.stringify({ logic, conditions: sent, always: 1 });
			const seen = await names(place, { metadata_condition: text });
			expect([text, seen.join("").replaceAll(".txt", "")]).toEqual([text, found]);
		}
	});
});

async function filled(flavour: Flavour): Promise<Place> {
	const place = await serve(
		flavour,
		Object.keys(metadata).map((name) => `${name}.txt`),
	);
	// A search engine takes values of every type under a key that was text first.
	await update(place, flavour, '{"author":"x","year":"x","day":"x"}');
	// PATCH releases refuse null, which all releases filter like a missing key.
	for (const [at, text] of Object.values(metadata).entries())
		await update({ ...place, ids: place.ids.slice(at) }, flavour, text.replace(/"author":null,/, ""));
	return place;
}
