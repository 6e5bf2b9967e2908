import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { stringify } from "yaml";
import { describe, expect, it } from "vitest";
import { mayHaveFrontMatter, readFrontMatter } from "../../src/files/front-matter.ts";
import { folder } from "../support/service.ts";

async function frontMatterOf(content: string | Uint8Array): Promise<unknown> {
	const path = join(await folder(), "a.md");
	await writeFile(path, content);
	const read = await readFrontMatter(path);
	return "text" in read ? read : Object.fromEntries(read);
}

describe("the front matter of a Markdown file", () => {
	it.each<[string, string, unknown]>([
		[
			"keeps the types of its values",
			"---\ntitle: A\nyear: 2024\npublic: true\ntags: [a, b]\nx: {y: 1.5}\n---\ntext",
			{ title: "A", year: 2024, public: true, tags: ["a", "b"], x: { y: 1.5 } },
		],
		["keeps a date as its text", "---\ndate: 2024-01-05\n---\n", { date: "2024-01-05" }],
		["may end in dots, and have line ends of Windows", "---\r\na: 1\r\n...\r\n", { a: 1 }],
		["may begin with a byte-order mark", "\ufeff---\na: 1\n---\n", { a: 1 }],
		["may be empty", "---\n---\ntext", {}],
		["is none without an end: it is a rule", "---\na: 1\ntext", {}],
		["is none after other text", "# A\n---\na: 1\n---\n", {}],
		["has keys that JavaScript knows as others", "---\n__proto__: 1\n---\n", JSON.parse('{"__proto__":1}')],
		[
			"is named by line and column where it is no YAML",
			"---\na: 1\nb: [1\n---\n",
			{ line: 3, column: 6, text: expect.stringContaining("no valid YAML") },
		],
		[
			"has no number that would be sent as another",
			"---\nid: 12345678901234567890\n---\n",
			{ line: 2, column: 5, text: "12345678901234567890 can't be sent as a number: write it in quotes" },
		],
		[
			"has no infinity",
			"---\na: .inf\n---\n",
			{ line: 2, column: 4, text: ".inf can't be sent as a number: write it in quotes" },
		],
		["is no list", "---\n- a\n---\n", { line: 2, column: 1, text: "is no list of keys and values" }],
		[
			"has no alias, which could grow without end",
			"---\na: &x 1\nb: *x\n---\n",
			{ line: 3, column: 4, text: expect.stringContaining("alias") },
		],
	])("%s", async (_, content, expected) => {
		expect(await frontMatterOf(content)).toEqual(expected);
	});

	it("is none in a file that is no text", async () => {
		expect(
			await frontMatterOf(Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x0a, 0x2d, 0x2d, 0x2d, 0x0a])),
		).toEqual({});
	});

	it("is read back as YAML wrote it", async () => {
		const value = fc.oneof(
			fc.string(),
			fc.integer(),
			fc.boolean(),
			fc.constant(null),
			fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
		);
		await fc.assert(
			fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), value, { minKeys: 1 }), async (metadata) => {
				expect(await frontMatterOf(`---\n${stringify(metadata)}---\ntext\n`)).toEqual(metadata);
			}),
			{ numRuns: 50 },
		);
	});

	it.each([
		["md", true],
		["MD", true],
		["pdf", false],
		["", false],
	])("may stand in a file that ends in %j: %s", (ext, may) => {
		expect(mayHaveFrontMatter(ext)).toBe(may);
	});
});
