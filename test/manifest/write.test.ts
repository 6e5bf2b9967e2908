import fc from "fast-check";
import { expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import type { JsonValue } from "../../src/json/values.ts";
import { parseSetOption } from "../../src/manifest/set-option.ts";
import { checkBytes, plain, formatCsvManifest } from "./support.ts";

test("plain values get plain columns, others get json", () => {
	const documents = [
		{
			datasetId: "d",
			documentId: "1",
			metadata: new Map<string, JsonValue>([
				["t", "x,y"],
				["n", 1],
				["l", ["a|b", "c"]],
				["name", "z"],
				["e", ""],
			]),
		},
		{
			datasetId: "d",
			documentId: "2",
			metadata: new Map<string, JsonValue>([
				["n", "1"],
				["x:int", "q"],
			]),
		},
	];
	expect(Array.from(formatCsvManifest(documents))).toEqual([
		"document_id,dataset_id,t,n:json,l:list,name:text,e:json,x:int:text\n",
		'1,d,"x,y",1,"a\\|b|c",z,"""""",\n',
		'2,d,,"""1""",,,,q\n',
	]);
});

test("what is written reads back as it was", async () => {
	const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[a ,;"\r\n|\\:\t]*$/));
	const value: fc.Arbitrary<unknown> = fc.oneof(
		text,
		text,
		fc.array(text, { maxLength: 3 }),
		fc.integer(),
		fc.boolean(),
		fc.jsonValue({ maxDepth: 2, noUnicodeString: false }),
	);
	const key = fc.oneof(
		fc.string({ unit: "binary" }).filter((name) => !name.includes("\0")),
		fc.constantFrom(
			"name",
			"file",
			"document_id",
			"Document ID",
			"x:int",
			"a:json",
			"a",
			"b",
			"__proto__",
			"_line",
			"",
			"a;b",
			"a|b",
		),
	);
	const skip = new Set(["publish_date", "url"]);
	const metadata = fc.array(fc.tuple(key, value), { maxLength: 5 }).map((entries) => {
		// JSON has one zero, and half a surrogate pair is no text.
		const kept = entries
			.filter(([name]) => !skip.has(name))
			.map(([name, item]) => [name, JSON.parse(JSON.stringify(item))] as const);
		return new Map<string, JsonValue>(kept);
	});
	await fc.assert(
		fc.asyncProperty(fc.array(metadata, { minLength: 1, maxLength: 4 }), async (all) => {
			fc.pre(JSON.stringify(all.map((one) => Array.from(one))).search(/\\u[dD][89a-fA-F]/) === -1);
			// Documents without any metadata make a manifest that has nothing to write, and says so.
			fc.pre(all.some((one) => one.size > 0));
			const documents = all.map((one, index) => ({ datasetId: "d", documentId: `id ${index}`, metadata: one }));
			const { rows, problems } = await checkBytes(Array.from(formatCsvManifest(documents)).join(""));
			expect(problems).toEqual([]);
			const sorted = (entries: Iterable<readonly [string, unknown]>): unknown =>
				Array.from(entries).toSorted(([a], [b]) => (a < b ? -1 : 1));
			expect(rows.map((row) => sorted(row.metadata))).toEqual(all.map((one) => sorted(one)));
		}),
		{ numRuns: 300 },
	);
});

test.each([
	["a=b", ["a", "b"]],
	["a=b=c", ["a", "b=c"]],
	["dc:title=x", ["dc:title", "x"]],
	["a:text=", ["a", ""]],
	["n:number=-1.5", ["n", -1.5]],
	["b:boolean=true", ["b", true]],
	["l:list=x|y", ["l", ["x", "y"]]],
	['j:json={"k":null}', ["j", { k: null }]],
])("--set %s", (text, setting) => {
	const { key, value } = parseSetOption(text);
	expect([key, value]).toEqual(setting);
});

test.each([["a"], ["=x"], ["n:number=x"], ["n:int=1"], ["b:boolean=yes"], ["j:json={"]])(
	"--set %s is wrong usage",
	(text) => {
		expect(() => parseSetOption(text)).toThrow(expect.objectContaining({ exit: Exit.usage }));
	},
);

test("a CSV manifest that was not edited changes nothing", async () => {
	const { rows } = await checkBytes("document_id,dataset_id,a,l:list\n1,d,x,p|q\n2,d,,\n");
	const again = await checkBytes(Array.from(formatCsvManifest(rows)).join(""));
	expect(plain(again.rows)).toEqual(plain(rows));
});
