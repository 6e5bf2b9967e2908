import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { pageForTerminal } from "../../src/report/page-text.ts";
import stringWidth from "string-width";

const marked = {
	bold: (text: string) => `\u001b[1m${text}\u001b[22m`,
	cyan: (text: string) => `\u001b[36m${text}\u001b[39m`,
};
const plain = { bold: (text: string) => text, cyan: (text: string) => text };
/** The marks in a form that can be read here. On a terminal they take no column. */
const page = (text: string, width = 40, style = marked): string =>
	pageForTerminal(text, width, style)
		.replaceAll("\u001b[1m", "<")
		.replaceAll("\u001b[22m", ">")
		.replaceAll("\u001b[36m", "{")
		.replaceAll("\u001b[39m", "}");

describe("a page on a terminal", () => {
	it.each([
		["a heading", "## What is kept", "<What is kept>\n"],
		["a paragraph, wrapped anew", "one two\nthree\n\nfour", "one two three\n\nfour\n"],
		["a paragraph", "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii", "aaaa bbbb cccc dddd eeee ffff gggg hhhh\niiii\n"],
		["a word that is longer than a line", `see ${"x".repeat(50)} now`, `see\n${"x".repeat(50)}\nnow\n`],
		["code in a line, word by word", "type `docs tag` or ``a`b``", "type {docs} {tag} or {a`b}\n"],
		["strong words, with code in them", "**never `rm` it**", "<never> <{rm}> <it>\n"],
		["a link to a page, as its text", "see [the `runs` page](runs.md#a)", "see the {runs} page\n"],
		["a link to a site, with its address", "see [npm](https://npm.example)", "see npm (https://npm.example)\n"],
		["stars and brackets that are no marks", "2 * 3 * 4, list[0] and [x] (y)", "2 * 3 * 4, list[0] and [x] (y)\n"],
		[
			"code, unchanged, whatever it looks like",
			"```sh\n# no heading\n\n| a |\n- `b`\n```\nafter",
			"    # no heading\n\n    | a |\n    - `b`\nafter\n",
		],
		["code whose end is missing", "```\na", "    a\n"],
		["a list", "Two:\n- one\n  goes on\n  - inner\n10. ten", "Two:\n- one goes on\n  - inner\n10. ten\n"],
		[
			"a list item of several lines",
			"- aaaa bbbb cccc dddd eeee ffff gggg hhhh",
			"- aaaa bbbb cccc dddd eeee ffff gggg\n  hhhh\n",
		],
		[
			"a paragraph of a list item",
			"- one\n\n  aaaa bbbb cccc dddd eeee ffff gggg hhhh",
			"- one\n\n  aaaa bbbb cccc dddd eeee ffff gggg\n  hhhh\n",
		],
		["an empty page", "", "\n"],
	])("%s", (_what, markdown, shown) => {
		expect(page(markdown)).toBe(shown);
	});

	it.each([
		["an escaped bar is a part of its cell", "| a |\n|:-:|\n| x \\| y |", "- x | y\n"],
		["a row with fewer cells", "| a | b |\n|---|---|\n| x |", "- x\n"],
		[
			"long cells are wrapped",
			"| exit | mail |\n|---|---|\n| 1 | each failed row, and the file with these rows |",
			"- 1\n  mail: each failed row, and the file\n  with these rows\n",
		],
		[
			"cells have the names of their columns",
			"| file | a | | b |\n|---|---|---|---|\n| x | `y` | z | |",
			"- x\n  a: {y}\n  z\n",
		],
	])("the rows of a table are items: %s", (_what, markdown, shown) => {
		expect(page(markdown)).toBe(shown);
	});

	it("without styles the marks stay, because nothing else shows what is code", () => {
		const text = "# Runs\n\n**Never** type `a b` of [it](x.md)\n";
		expect(page(text, 40, plain)).toBe("# Runs\n\n**Never** type `a b` of it\n");
	});

	it("prose is no wider than can be read, and a terminal without room ends it nowhere", () => {
		const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));
		expect(longest(page("word ".repeat(100), 300))).toBe(99);
		expect(longest(page("word ".repeat(100), 0))).toBe(9);
	});

	const DOCS = new URL("../../docs/", import.meta.url);
	it("loses no word of any page, and no line of prose or of a table is wider than the terminal", async () => {
		const names = (await readdir(DOCS)).filter((name) => name.endsWith(".md"));
		expect(names.length).toBeGreaterThan(20);
		for (const name of names) {
			const text = await readFile(new URL(name, DOCS), "utf8");
			// Without the targets of links and the borders of tables, every word is there as often as before. A list of rows has no name of its first column.
			const count = (from: string): Map<string, number> =>
				from
					.replaceAll(/\]\([^)]*\)/g, " ")
					.split(/[^\p{L}\p{N}]+/u)
					.reduce((words, word) => words.set(word, (words.get(word) ?? 0) + 1), new Map<string, number>());
			const source = text
				.replaceAll(/^```.*$/gm, "")
				.replaceAll(/^\| [^|]*(\|.*\n\|---)/gm, "$1")
				.replaceAll(/\]\((https?:[^)]*)\)/g, " $1");
			const shown = pageForTerminal(text, 80, plain);
			const after = count(shown);
			for (const [word, times] of count(source)) {
				if (word !== "") expect([name, word, (after.get(word) ?? 0) >= times]).toEqual([name, word, true]);
			}
			for (const line of shown.split("\n")) {
				if (!line.startsWith("    ") && stringWidth(line) > 80)
					expect(line.trim().replace(/^[-*] /, "")).not.toContain(" ");
			}
		}
	});
});
