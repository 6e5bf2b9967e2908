import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";

const DOCS = new URL("../../docs/", import.meta.url);
const pages = (await readdir(DOCS)).filter((name) => name.endsWith(".md")).toSorted();

/** Words of the line at most: a longer one is read no faster than the page. */
const MOST_WORDS = 20;

/** What is wrong with the start of a page; undefined where a title and one line that says for whom it is come first. */
function wrongIn(text: string): string | undefined {
	const [title = "", blank, line = "", after] = text.split("\n");
	if (!title.startsWith("# ") || blank !== "" || after !== "")
		return "title, one line and blank lines between are not first";
	if (!/^For [a-z]+ (?:who|whose) [^.]+\.$/.test(line)) return `not "For those who ….": ${line}`;
	return line.split(" ").length > MOST_WORDS ? `more than ${MOST_WORDS} words: ${line}` : undefined;
}

describe("docs/", () => {
	it.each(pages)("%s says first whom it is for: a reader would find out only by reading all of it", async (name) => {
		expect(wrongIn(await readFile(new URL(name, DOCS), "utf8"))).toBeUndefined();
	});

	it.each(pages)("%s has no evidence of the project, for which users have no use", async (name) => {
		// Except what a user may repeat: whether a package was built of the same source.
		const evidence = /`src\/[^`]*`|`[^`]*\.test\.ts`|npm run (?:test(?!:reproducible)|torture|bench)/g;

		expect((await readFile(new URL(name, DOCS), "utf8")).match(evidence) ?? []).toEqual([]);
	});

	it.each([
		["a line that is missing", "# Runs\n\nEvery run is recorded.\n\n## More\n"],
		["a paragraph that goes on", "# Runs\n\nFor those who stop a run.\nIt is recorded.\n"],
		["a line that is too long", `# Runs\n\nFor those who ${"very ".repeat(17)}often stop.\n\n`],
		["a page without a title", "For those who stop a run.\n\n"],
	])("%s would be refused", (_, text) => {
		expect(wrongIn(text)).toBeDefined();
		expect(wrongIn("# Runs\n\nFor those who stop a run.\n\n")).toBeUndefined();
	});
});
