import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const NAMED = /`(test\/[^`]+\.test\.ts)` "([^"]+)"/g;

const page = await readFile(new URL("docs/security.md", ROOT), "utf8");
const evidence = await readFile(new URL("test/security.md", ROOT), "utf8");

/** The cells of the tables of a page, without heads and rules. */
const rowsOf = (text: string): readonly (readonly string[])[] =>
	text
		.split("\n")
		.filter((line) => line.startsWith("| ") && !line.startsWith("| promise |"))
		.map((line) => line.slice(2, -2).split(" | "));

it("the page of security has promises, and each names a test that shows it", () => {
	const promises = rowsOf(page).map(([promise]) => promise);
	expect(promises.length).toBeGreaterThan(25);
	expect(rowsOf(evidence).map(([promise]) => promise)).toEqual(promises);
	for (const [promise, shown] of rowsOf(evidence))
		expect([promise, shown?.replaceAll(NAMED, "")]).toEqual([promise, expect.stringMatching(/^(; )*$/)]);
});

it.each([...evidence.matchAll(NAMED)].map(([, path = "", title = ""]) => [path, title]))(
	"%s has the test that test/security.md names: %s",
	async (path, title) => {
		const text = await readFile(new URL(path, ROOT), "utf8");
		// As a title stands: behind the bracket of a test or a group of tests, in quotes of some kind.
		const starts = [`"${title}`, `\`${title}`];
		expect(starts.some((start) => text.includes(start))).toBe(true);
	},
);
