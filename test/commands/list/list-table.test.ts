import { expect, it } from "vitest";
import stringWidth from "string-width";
import { liar } from "../../support/liar.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { serve } from "../../support/service.ts";
import { range } from "../../support/values.ts";

const NOON = Date.UTC(2026, 10, 22, 12, 0);

type Shown = { readonly exit: number; readonly lines: readonly string[]; readonly stderr: string };

/** What `docs list` prints on a terminal of a width, for documents with these names and metadata. */
async function table(
	documents: readonly (readonly [name: string, metadata: object])[],
	columns: number,
	flags: readonly string[] = [],
): Promise<Shown> {
	const docs = documents.map(([name, meta_fields], n) => ({
		id: `${n}`.padStart(32, "0"),
		name,
		size: 14_200,
		create_time: NOON,
		meta_fields,
	}));
	const service = await liar(0, ({ method, path, query }) => {
		if (method !== "GET" || !path.endsWith("/documents")) return undefined;
		const start = (Number(query.get("page")) - 1) * 100;
		return { code: 0, data: { total: docs.length, docs: docs.slice(start, start + 100) } };
	});
	const { exit, stdout, stderr } = await ragtag(["docs", "list", "-d", "set", ...flags], {
		env: { ...envOf(service), NO_COLOR: "1" },
		terminal: true,
		columns,
	});
	return { exit, lines: stdout.split("\n").slice(0, -1), stderr };
}

const heads = ({ lines }: Shown): string[] => (lines[0] ?? "").split(/ +/);

it("a table names each document first and ends with its whole id, with as many of the commonest keys as fit", async () => {
	const documents = range(3).map(
		(n) => [`report-${n}.pdf`, { ...(n === 0 ? { rare: "yes" } : {}), category: "news", pages: n * 500 }] as const,
	);
	const wide = await table(documents, 120);
	expect(heads(wide)).toEqual(["name", "category", "pages", "rare", "size", "create_time", "document_id"]);
	expect(wide.lines[1]).toMatch(
		/^report-0.pdf {2}news {10}0 {2}yes {3}14 kB {2}2026-11-2[1-3] \d\d:\d\d {2}00000000000000000000000000000000$/,
	);
	expect(wide.stderr).toBe("3 documents\n");
	expect(heads(await table(documents, 80))).toEqual(["name", "category", "pages", "rare", "size", "document_id"]);
	const narrow = await table(documents, 40);
	expect(narrow.lines.slice(0, 4)).toEqual([
		"name          category  pages  rare",
		"  document_id",
		"report-0.pdf  news          0  yes",
		"  00000000000000000000000000000000",
	]);
});

it("ten keys have a column, those that most documents have", async () => {
	const keys = range(12).map((n) => `k${n}`);
	const documents = range(12).map(
		(n) => ["x", Object.fromEntries(keys.slice(n).map((key) => [key, key.slice(1)]))] as const,
	);
	expect(heads(await table(documents, 300)).slice(1, -3)).toEqual(keys.slice(2).toReversed());
});

it("names and values with wide characters, emoji, escapes and line ends leave every column in its place", async () => {
	const documents = [
		["plain.txt", { note: "abc" }],
		["文件.txt", { note: "👩‍👩‍👧 family" }],
		["e\u0301tude", { note: "\u001b[2J\u202e\nnext\tline" }],
		["a".repeat(300), { note: "界".repeat(100) }],
	] as const;
	for (const columns of [120, 80, 60]) {
		const { lines, stderr } = await table(documents, columns);
		expect(lines).toHaveLength(documents.length + 1);
		const starts = lines.map((line) => stringWidth(line.slice(0, line.search(/document_id$|0{31}\d$/))));
		expect(new Set(starts).size).toBe(1);
		for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
		for (const unsafe of ["\u001b", "\u202e", "\t"]) expect(lines.join("\n")).not.toContain(unsafe);
		expect(stderr).toBe("4 documents\n");
	}
});

it("lists and objects are shown as short text", async () => {
	const documents = [
		["a", { tags: ["x", "y z"], empty: [], owner: { name: "Ann", ids: [1] }, none: null, flag: true }],
		["b".repeat(300), {}],
	] as const;
	const { lines } = await table(documents, 300);
	expect(lines[1]).toContain("  x, y z         name: Ann, ids: [1]  null  true  ");
	const fields = await table(documents, 60, ["--fields", "document_id,meta_fields,size"]);
	expect(fields.lines[1]).toBe("00000000000000000000000000000000  tags: x, y z, empt…  14 kB");
});

it("the count says of how many documents a table shows the first", async () => {
	const service = await serve(250);
	const [id = ""] = await service.ids();
	await service.put(id, { kind: "news" });
	const count = async (...flags: string[]): Promise<string> =>
		(await ragtag(["docs", "list", "-d", service.dataset, ...flags], { env: envOf(service), terminal: true })).stderr;
	expect(await count()).toBe("250 documents\n");
	expect(await count("--limit", "5")).toBe("5 of 250 documents\n");
	expect(await count("--limit", "250")).toBe("250 documents\n");
	expect(await count("--limit", "5", "--sort", "-name")).toBe("5 of 250 documents\n");
	expect(await count("--limit", "5", "--missing", "kind")).toBe("the first 5 documents\n");
	expect(await count("--limit", "5", "--missing", "kind", "--sort", "name")).toBe("5 of 249 documents\n");
	expect(await count("--where", "kind=news")).toBe("1 document\n");
	expect(await count("-q")).toBe("");
	// Data has no count: a script's log would be full of them.
	expect(await count("--format", "tsv")).toBe("");
});

it("a name that fits beside the id is never cut for the sake of other columns; --wide cuts and leaves out nothing", async () => {
	const name = `minutes of the board ${"x".repeat(25)} 7.pdf`;
	const values = Object.fromEntries(range(10).map((n) => [`key${n}`, `a value of ${n}`]));
	const documents = [[name, values]] as const;
	const shown = await table(documents, 120);
	expect(shown.lines[1]).toContain(name);
	expect(heads(shown)).toEqual(["name", "key0", "key1", "size", "document_id"]);
	const wide = await table(documents, 40, ["--wide"]);
	expect(heads(wide)).toEqual(["name", ...Object.keys(values), "size", "create_time", "document_id"]);
	expect(wide.lines[1]).toMatch(/^minutes .* 7\.pdf {2}a value of 0 .* a value of 9 .* 0{32}$/);
});
