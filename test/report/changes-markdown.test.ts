import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/json/values.ts";
import { differenceOf } from "../../src/plan/change.ts";
import { ChangesMarkdown } from "../../src/report/changes.ts";
import { ChangeTally, type ShownChange } from "../../src/report/change-tally.ts";
import { markdownCell } from "../../src/report/escape.ts";
import { range } from "../support/values.ts";

type Values = Readonly<Record<string, JsonValue>>;

const changed = (present: Values, sent: Values, more: Partial<ShownChange> = {}): ShownChange => ({
	action: "update",
	line: 7,
	datasetId: "set",
	documentId: "doc",
	difference: differenceOf(new Map(Object.entries(present)), new Map(Object.entries(sent))),
	...more,
});

function markdownOf(changes: Iterable<ShownChange>, limit?: number, isComplete = true): string {
	const page = new ChangesMarkdown(limit);
	const tally = new ChangeTally();
	for (const change of changes) {
		page.add(change);
		tally.add(change);
	}
	return page.text(tally, isComplete);
}

/** As GitHub makes it; `<details>` and `<summary>` are HTML that it lets through. */
const htmlOf = (markdown: string): string =>
	micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });

/** The elements of a page, and its text outside of code. */
function outsideCode(html: string): { readonly elements: string[]; readonly text: string } {
	const bare = html.replaceAll(/<code[^>]*>[^<]*<\/code>/g, "CODE");
	const elements = Array.from(bare.matchAll(/<([a-z0-9]+)/g), ([, name = ""]) => name);
	return { elements: [...new Set(elements)].toSorted(), text: bare.replaceAll(/<[^>]*>/g, "") };
}

describe("the changes of a dry run as a comment", () => {
	it("begin with the counts, then name each equal change once, then each document", () => {
		const text = markdownOf([
			changed({ team: "a" }, { team: "b", batch: "x1" }, { documentId: "1", line: 2, name: "one.pdf" }),
			changed({ team: "a", old: 1 }, { team: "b", batch: "x1" }, { documentId: "2", line: 3 }),
			changed({ team: "c" }, { team: "c", batch: "x1" }, { documentId: "3", line: 4 }),
		]);
		expect(text).toBe(
			[
				"3 documents would change; keys: 3 added, 2 changed, 1 removed.",
				"",
				"Keys that would be removed: `old` (1 document).",
				"",
				'- `batch`: add `"x1"`: 3 documents',
				'- `team`: change `"a"` to `"b"`: 2 documents',
				"- `old`: remove `1`: 1 document",
				"",
				"<details>",
				"<summary>Document by document</summary>",
				"",
				"```diff",
				"@@ one.pdf (1), line 2 @@",
				'+ batch: "x1"',
				'! team: "a" → "b"',
				"@@ 2, line 3 @@",
				'+ batch: "x1"',
				'! team: "a" → "b"',
				"- old: 1",
				"@@ 3, line 4 @@",
				'+ batch: "x1"',
				"```",
				"",
				"</details>",
				"",
			].join("\n"),
		);
	});

	it("show that a value comes in the place of different ones", () => {
		const text = markdownOf([changed({ n: 1 }, { n: 3 }), changed({ n: 2 }, { n: 3 })]);
		expect(text).toContain("- `n`: change to `3`: 2 documents\n");
	});

	it("distinguish the number 5 from the text", () => {
		const text = markdownOf([changed({}, { n: 5 }), changed({}, { n: "5" })]);
		expect(text).toContain('- `n`: add `5`: 1 document\n- `n`: add `"5"`: 1 document\n');
	});

	it("distinguish long values that begin alike", () => {
		const long = (end: string): string => "x".repeat(300) + end;
		const text = markdownOf([changed({}, { n: long("a") }), changed({}, { n: long("b") })]);
		expect(text.match(/: 1 document$/gm)).toHaveLength(2);
	});

	it("name common values, and count those that one document each has", () => {
		const titles = range(40).map((n) => changed({}, { title: `t${n}`, kind: n < 30 ? "a" : `k${n}` }));
		const text = markdownOf(titles);
		expect(text).toContain('- `title`: add various values, such as `"t0"`, `"t1"`, `"t2"`: 40 documents\n');
		expect(text).toContain(
			'- `kind`: add `"a"`: 30 documents\n- `kind`: add other values, such as `"k30"`, `"k31"`, `"k32"`: 10 documents\n',
		);
	});

	it("name many numbers of a key by the least and the greatest, whether or not documents share some", () => {
		const text = markdownOf(range(40).map((n) => changed({ pages: 1_000 }, { pages: 5 + (n % 20) })));
		expect(text.match(/^- .*/gm)).toEqual(["- `pages`: change to numbers from `5` to `24`: 40 documents"]);
		const mixed = markdownOf(range(40).map((n) => changed({}, { pages: n === 7 ? "n/a" : n })));
		expect(mixed).toContain("- `pages`: add various values, such as `0`, `1`, `2`: 40 documents\n");
	});

	it("say that uploads and removals are no updates, and count no key of a removed document", () => {
		const text = markdownOf([
			changed({}, { a: 1 }, { action: "upload", documentId: "", file: "/x/a|b.md" }),
			changed({ b: 1 }, {}, { action: "remove" }),
		]);
		expect(text).toContain("1 document would be uploaded. 1 document would be removed.");
		expect(text).toContain("@@ /x/a|b.md, line 7: upload @@\n+ a: 1\n@@ doc, line 7: remove @@\n- b: 1\n");
		expect(text.match(/^- `.*$/gm)).toEqual(["- `a`: add `1`: 1 document"]);
	});

	it("are one sentence where nothing would change", () => {
		expect(markdownOf([])).toBe("No document would change.\n");
	});

	it("warn that a stopped dry run shows only a part", () => {
		expect(markdownOf([changed({}, { a: 1 })], undefined, false)).toMatch(
			/^The command was stopped, so more may change/,
		);
	});
});

describe("a comment that would be too long", () => {
	const plan = range(3000).map((n) =>
		changed({}, { batch: "x1", title: `Title ${n}` }, { documentId: `${n}`.padStart(32, "0"), line: n + 2 }),
	);

	it("keeps its counts and groups, and says how many documents are left out", () => {
		const text = markdownOf(plan);
		expect(text.length).toBeLessThanOrEqual(60_000);
		expect(text.length).toBeGreaterThan(59_000);
		expect(text).toContain('- `batch`: add `"x1"`: 3,000 documents\n');
		const shown = text.match(/^@@ /gm)?.length ?? 0;
		const leftOut = (3000 - shown).toLocaleString("en-US");
		expect(text).toMatch(new RegExp(`\n${leftOut} documents are not shown one by one: .* 60,000 characters\\.\n$`));
	});

	it.each([1_000, 2_500, 20_000])("is never longer than %i characters, whatever the keys and values are", (limit) => {
		const hostile = range(200).map((n) => {
			const keys = range(30).map((key): [string, JsonValue] => [`${"`".repeat(90)}${key}`, "|".repeat(n * 7)]);
			return changed({ ["k".repeat(400) + n]: n }, Object.fromEntries(keys));
		});
		const text = markdownOf(hostile, limit);
		expect(text.length).toBeLessThanOrEqual(limit);
		expect(text).toMatch(/^200 documents would change; keys: 6,000 added, 200 removed\.\n/);
		expect(text).toMatch(/documents are not shown one by one/);
	});

	it("counts the changes that no line of it names", () => {
		const text = markdownOf(
			range(2000).map((n) => changed({}, { [`key-${n}`]: n })),
			5_000,
		);
		const named = text.match(/^- `/gm)?.length ?? 0;
		expect(named).toBeGreaterThan(10);
		expect(text).toContain(`\n- and ${(2000 - named).toLocaleString("en-US")} other changes of a key\n`);
	});
});

describe("foreign text stays text in GitHub's Markdown", () => {
	const hostile = [
		"a|b\\|c\\\\|d",
		"`one` ``two`` ```",
		"```\n# heading",
		"<img src=x onerror=alert(1)></details></code>",
		"@everyone #1 GH-1",
		"[link](https://example.com) ![x](y) www.example.com https://example.com a@example.com",
		"line\nnext\r\n\u2028more\u0085",
		"\u202ereversed\u2066 \u200bhidden \u001b[31m",
		"*bold* _it_ ~~gone~~ $x$ &lt;b&gt; \\",
		"--> <!-- ]]> </summary> <script>",
		" ",
		"",
		"|---|---|",
		"\\",
	];

	it.each(hostile)("%j as key, value, name and id", (text) => {
		const change = (more: Partial<ShownChange>): ShownChange =>
			changed({ [`${text}r`]: text, [`${text}c`]: 1 }, { [`${text}a`]: text, [`${text}c`]: text }, more);
		const markdown = markdownOf([
			change({ name: text, documentId: text }),
			change({ action: "upload", file: text }),
			change({ action: "remove" }),
		]);
		const { elements, text: outside } = outsideCode(htmlOf(markdown));
		expect(elements).toEqual(["details", "li", "p", "pre", "summary", "ul"]);
		expect(outside.replaceAll(/\d+/g, "N")).toMatchInlineSnapshot(`
			"N document would be uploaded. N document would be removed. N document would change; keys: N added, N changed, N removed.
			Keys that would be removed: CODE (N document).

			CODE: add CODE: N documents
			CODE: change CODE to CODE: N documents
			CODE: remove CODE: N documents


			Document by document
			CODE

			"
		`);
		expect(markdown).not.toMatch(/[^\n\P{C}]|\p{Zl}/u);
	});

	it.each(hostile)("%j in a cell of a table", (text) => {
		const html = htmlOf(`| a | b |\n|---|---|\n| ${markdownCell(text)} | end |\n`);
		const { elements, text: outside } = outsideCode(html);
		expect(elements).toEqual(["table", "tbody", "td", "th", "thead", "tr"]);
		expect(outside.split(/\s+/).filter((word) => word !== "")).toEqual(["a", "b", "CODE", "end"]);
	});
});

it("a dry run of many documents keeps a few megabytes, though each has keys and values of its own", () => {
	setFlagsFromString("--expose-gc");
	const held = (): number => {
		runInNewContext("gc()");
		return process.memoryUsage().heapUsed;
	};
	const page = new ChangesMarkdown(1_000);
	const tally = new ChangeTally();
	const before = held();
	for (const n of range(20_000)) {
		const change = changed({}, { [`key-${n % 700}`]: `${n} ${"v".repeat(2_000)}`, id: n });
		page.add(change);
		tally.add(change);
	}
	// The values alone are 40 MB.
	expect(held() - before).toBeLessThan(25_000_000);
	expect(page.text(tally, true)).toMatch(/other changes of a key/);
});
