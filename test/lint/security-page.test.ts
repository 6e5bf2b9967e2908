import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const NAMED = /`(test\/[^`]+\.test\.ts)` "([^"]+)"/g;

const page = await readFile(new URL("docs/security.md", ROOT), "utf8");

/** The lines of its tables, without heads and rules. */
const lines = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| line |"));

it("the page of security has lines, and each names a test that shows it", () => {
	expect(lines.length).toBeGreaterThan(25);
	for (const line of lines) expect(line).toMatch(new RegExp(NAMED.source));
});

it.each([...page.matchAll(NAMED)].map(([, path = "", title = ""]) => [path, title]))(
	"%s has the test that the page of security names: %s",
	async (path, title) => {
		const text = await readFile(new URL(path, ROOT), "utf8");
		// As a title stands: behind the bracket of a test or a group of tests, in quotes of some kind.
		const starts = [`"${title}`, `\`${title}`];
		expect(starts.some((start) => text.includes(start))).toBe(true);
	},
);
