import fc from "fast-check";
import { expect, test } from "vitest";
import { ColumnPlan } from "../../src/manifest/write.ts";
import { printFound } from "../../src/workflows/resolve/look-up.ts";
import type { JsonValue } from "../../src/json/values.ts";
import type { Row } from "../../src/manifest/types.ts";
import { checkBytes, plain, formatCsvManifest } from "./support.ts";

const purpose = "resolve" as const;
const references = (rows: readonly Row[]): unknown[] =>
	rows.map(({ documentId, nameReference: asked }) => [documentId, asked?.name, asked?.place()]);

test("a row asks by its name, or has an id that it keeps; its place is that of the name", async () => {
	const csv = await checkBytes('author,name,document_id\nx,"a,b",\n"y\nz",c,id1\nw,,id2\n', { purpose });
	expect(csv.problems).toEqual([]);
	expect(references(csv.rows)).toEqual([
		["", "a,b", { line: 2, column: 3 }],
		["id1", "c", { line: 4, column: 4 }],
		["id2", "", { line: 5, column: 3 }],
	]);
	const json = await checkBytes('[{"author":"x","name":"a"},\n {"name":"b","document_id":"id1"}]', { purpose });
	expect(references(json.rows)).toEqual([
		["", "a", { line: 1, column: 23 }],
		["id1", "b", { line: 2, column: 10 }],
	]);
	expect(json.rows.map(({ metadata }) => Array.from(metadata))).toEqual([[["author", "x"]], []]);
});

test.each([
	["document_id,a\n1,x\n", "1:1 MISSING_COLUMN"],
	["name,a\n,x\n", "2:1 NO_NAME"],
	['{"a":"x"}\n', "1:1 NO_NAME"],
	['{"name":7}\n', "1:9 BAD_NAME"],
	["name,document_id\na, 1\n", "2:3 BAD_ID"],
	["name,a\nn,1\nn,2\n", "3:1 DUPLICATE"],
	["name:text,name,a\nq,n,1\nq,n,2\n", "3:3 DUPLICATE"],
	["name,publish_date\na,soon\n", "2:3 BAD_DATE"],
])("a row that can't be resolved is found before a request is made: %j", async (text, place) => {
	expect((await checkBytes(text, { purpose })).places).toEqual([place]);
});

test("the same row twice is one, and names that differ by normalisation alone are two", async () => {
	const { rows, checked } = await checkBytes("name,a\nn,1\nn,1\né,1\ne\u0301,2\n", { purpose });
	expect([rows.length, checked.duplicateSkipped]).toEqual([3, 1]);
});

test("--map takes the names from another column", async () => {
	const { rows } = await checkBytes("filename,a\nn,1\n", { purpose, map: new Map([["filename", "name"]]) });
	expect(rows.map(({ nameReference: asked }) => asked?.name)).toEqual(["n"]);
	const { problems } = await checkBytes("filename,a\nn,1\n", { purpose });
	expect(problems[0]?.text).toContain("--map COLUMN=name");
});

test("nothing of a row's metadata is lost or changed between its name and its id, in CSV and JSON", async () => {
	const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a ,;"\r\n|\\:\t]*$/));
	const value: fc.Arbitrary<unknown> = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }));
	const key = fc.oneof(
		text.filter((name) => !name.includes("\0")),
		fc.constantFrom("name", "file", "document_id", "Document ID", "x:int", "a:json", "a", "__proto__", "_line", ""),
	);
	const metadata = fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => {
		const kept = entries.filter(([name]) => name !== "url" && name !== "publish_date");
		return new Map<string, JsonValue>(kept.map(([name, item]) => [name, JSON.parse(JSON.stringify(item))] as const));
	});
	const sorted = (entries: Iterable<readonly [string, unknown]>): unknown =>
		Array.from(entries).toSorted(([a], [b]) => (a < b ? -1 : 1));
	await fc.assert(
		fc.asyncProperty(fc.array(metadata, { minLength: 1, maxLength: 4 }), fc.boolean(), async (all, json) => {
			fc.pre(!/\\u[dD][89a-fA-F]/.test(JSON.stringify(all.map((one) => Array.from(one)))));
			fc.pre(all.some((one) => one.size > 0));
			const documents = all.map((one, index) => ({ datasetId: "d", documentId: `id ${index}`, metadata: one }));
			const named = Array.from(formatCsvManifest(documents)).join("").replace("document_id", "name");
			const read = await checkBytes(named, { purpose });
			expect(read.problems).toEqual([]);
			expect(read.rows.map((row) => row.nameReference?.name)).toEqual(documents.map(({ documentId }) => documentId));

			const plan = json ? undefined : new ColumnPlan(["document_id", "dataset_id", "name"]);
			for (const row of read.rows) plan?.include(row.metadata);
			let printed = "";
			const resolved = read.rows.map((row, index) => ({
				datasetId: row.datasetId,
				documentId: `found ${index}`,
				metadata: row.metadata,
				name: row.nameReference?.name ?? "",
			}));
			const print = async (piece: string): Promise<void> => void (printed += piece);
			await printFound(each(resolved), plan, print, () => false);
			const { rows, problems } = await checkBytes(printed);
			expect(problems).toEqual([]);
			expect(rows.map(({ documentId }) => documentId)).toEqual(resolved.map(({ documentId }) => documentId));
			expect(rows.map((row) => sorted(row.metadata))).toEqual(all.map((one) => sorted(one)));
		}),
		{ numRuns: 200 },
	);
});

test("what was printed can be resolved again, and stays as it is", async () => {
	const first = await checkBytes("document_id,dataset_id,name,a\n1,d,n,x\n", { purpose });
	expect(plain(first.rows)).toEqual([["d", "1", [["a", "x"]]]]);
});

async function* each<Item>(all: readonly Item[]): AsyncGenerator<Item> {
	yield* all;
}
