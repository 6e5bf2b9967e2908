import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { check } from "./support.ts";

const FOLDER = "fixtures/manifest";

/** What each odd manifest must say: its problems, or the lines of its rows. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
	"blank-lines-before-and-after-the-header.csv": ["row 5"],
	"crlf-in-quotes-then-ragged-on-line-4.csv": ["row 2", "4:4 RAGGED"],
	"latin1-on-line-2.csv": ["2:8 ENCODING"],
	"lone-carriage-returns.csv": ["1:29 LONE_CR"],
	"misspelt-document-id.csv": ["1:1 UNKNOWN_COLUMN"],
	"number-beyond-a-double.jsonl": ["1:41 BAD_NUMBER"],
	"prototype-keys.jsonl": ["row 1"],
	"semicolons-and-byte-order-mark.csv": ["row 2"],
	"trailing-comma-on-line-3.json": ["row 2", "3:56 BAD_JSON"],
	"unclosed-quote-on-line-2.csv": ["2:5 UNCLOSED_QUOTE"],
};

test("every fixture has its expectation", async () => {
	expect((await readdir(FOLDER)).toSorted()).toEqual(Object.keys(EXPECTED));
});

test.each(Object.entries(EXPECTED))("%s", async (name, expected) => {
	const { rows, places } = await check(`${FOLDER}/${name}`);
	expect([...rows.map(({ line }) => `row ${line}`), ...places]).toEqual(expected);
});
