import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { ColumnPlan, textSurvives } from "../../src/manifest/write.ts";
import { IMPORTS } from "../support/libreoffice.ts";
import { checkBytes, type Outcome, formatCsvManifest } from "./support.ts";

const FOLDER = "fixtures/spreadsheet";

const reading = async (name: string): Promise<Outcome> => checkBytes(await readFile(join(FOLDER, name)));

/** Documents with their values; the order of keys is that of the columns. */
function values({ rows }: Outcome): unknown[] {
	return rows.map(({ datasetId, documentId, metadata }) => [datasetId, documentId, Object.fromEntries(metadata)]);
}

describe("what LibreOffice 7.4 saved of a manifest of odd values, with nothing edited", () => {
	it("was made of what is written today", async () => {
		const { rows } = await reading("odd-values.jsonl");
		const written = Array.from(formatCsvManifest(rows)).join("");
		expect(written).toBe(await readFile(join(FOLDER, "manifest.csv"), "utf8"));
		// Dates stay readable: they come back as they were.
		expect(written.split("\n", 1)[0]).toContain(",title,publish_date,pages:number,");
	});

	it.each(Object.keys(IMPORTS))("has the same values: import %s", async (name) => {
		const saved = await reading(`libreoffice-${name}.csv`);
		expect(saved.problems).toEqual([]);
		expect(values(saved)).toEqual(values(await reading("odd-values.jsonl")));
	});
});

test.each([
	["plain", true],
	["42", true],
	["a\tb", false],
	["-5", true],
	["2024", true],
	["12345678901", true],
	["123456789012", false],
	["007", false],
	["+5", false],
	["=1+1", false],
	["@x", false],
	["- item", false],
	["1.10", false],
	["1,000", false],
	[" 7", false],
	["1e5", false],
	["5%", false],
	["€5", false],
	["(5)", false],
	["3 1/2", false],
	["10:00", false],
	["1:30 PM", false],
	["2024-01-02", true],
	["2024-01-02 ", false],
	["2024-1-2", false],
	["2024-01-02 10:00", false],
	["2024-01-02T10:00:00", true],
	["2024-01-02T24:00:00", false],
	["2024-01-02T10:00", false],
	["2024-01-02T10:00:00Z", true],
	["Jan 5", false],
	["MARCH1", false],
	["Monday, January 1, 2024", false],
	["May", true],
	["Chapter 7", true],
	["marching 3 miles", true],
	["true", false],
	["WAHR", false],
	["True", false],
	["truth", true],
	["one\ntwo", true],
	["one\r\ntwo", false],
	["one\rtwo", false],
	["  spaced  ", true],
	["a-b", true],
	["https://example.org/1", true],
])("whether a spreadsheet leaves %j as it is: %j", (text, expected) => {
	expect(textSurvives(text)).toBe(expected);
});

test.each([
	[0, true],
	[-1.5, true],
	[1e21, true],
	[1700000000000, true],
	[0.1 + 0.2, false],
	[12345678901234567000, false],
	[1e-7, false],
	[5e-324, false],
	[Number.MAX_VALUE, false],
	[0.123, false],
	[0.1234, true],
])("whether a spreadsheet leaves the number %j as it is: %j", (value, expected) => {
	const plan = new ColumnPlan([]);
	plan.include(new Map([["n", value]]));
	expect(plan.head()).toContain(expected ? "n:number" : "n:json");
});

it("a long text is looked through in no time, whatever it looks like: one document could hold up a whole manifest", () => {
	// Each of its parts could begin a month: without a bound this takes minutes.
	expect(textSurvives(`x${"daymar".repeat(100_000)}!1`)).toBe(true);
});
