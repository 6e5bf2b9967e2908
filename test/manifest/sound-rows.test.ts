import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../src/json/parse-json.ts";
import { CsvReader } from "../../src/manifest/csv/reader.ts";
import { RowValidator } from "../../src/manifest/rows/validator.ts";
import type { ManifestOptions } from "../../src/manifest/types.ts";
import { TAG } from "./support.ts";

const MERGE_ONLY = { token: "!delete", lists: true };

/** For each row: whether its cells show no fault, its ids in that case, and the faults that the full search finds. */
async function judged(text: string, options: Partial<ManifestOptions>) {
	const all = { ...TAG, ...options };
	const validator = await RowValidator.create("", all);
	const reader = new CsvReader(all);
	const rows = [...reader.push(text), ...reader.end()];
	const isWrong = reader.headFaults().length > 0;
	const sound = isWrong ? undefined : reader.soundRows;
	return rows.map((raw) => {
		const ids = sound?.isSound(raw) === true ? [sound.datasetId, sound.documentId] : undefined;
		const parsed = reader.parse(raw);
		const codes =
			raw.fault === undefined ? validator.faults(parsed, isWrong).map(({ code }) => code) : [raw.fault.code];
		return { ids, codes, parsedIds: [parsed.datasetId, parsed.documentId] };
	});
}

const HEADER = "document_id,dataset_id,text,n:number,b:boolean,l:list,j:json,url,publish_date";

test.each<[cells: string, options?: Partial<ManifestOptions>]>([
	["1,d2,word,1800,true,a|b,[1],https://example.com/1,2024-02-29"],
	[`${"0".repeat(31)}a,,"two words",-1.5e3,FALSE,"a,b","{""a"":[1]}",urn:isbn:x,`],
	["a.pdf,,,,,,,,", { empty: "null" }],
	["a,,!delete,1,,+x,,,", { mergeOnly: undefined }],
	["a,,1,1,,,,,", { set: new Map([["url", "https://example.com"]]) }],
	["a,,1,1,,,,no address,no date", { schema: "none" }],
	["a,,1,x,x,x,x,x,x", { purpose: "rm" }],
])("the cells show that a row has no fault: %s", async (cells, options = {}) => {
	const [row] = await judged(`${HEADER}\n${cells}\n`, { mergeOnly: MERGE_ONLY, ...options });
	expect(row).toMatchObject({ codes: [], ids: row?.parsedIds });
});

test("the faults of a schema, of --set and of names are left to others", async () => {
	const { soundRows } = new CsvReader(TAG);
	expect(soundRows).toBeUndefined();
	for (const options of [
		{ schema: {} },
		{ set: new Map([["url", "x"]]) },
		{ purpose: "resolve" },
		{ purpose: "upload" },
	] as const) {
		const rows = await judged("document_id,name,file,a\n1,1,1,1\n", options);
		expect(rows).toMatchObject([{ ids: undefined }]);
	}
});

const id = fc.oneof(
	{ weight: 4, arbitrary: fc.constantFrom("1", "a-b_c", "a.b") },
	fc.constantFrom("", " ", "1 ", ".", "..", "1E+10", "ä", "a\u0001", "x".repeat(257)),
);
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const cell = fc.oneof(
	fc.constantFrom(
		"",
		"",
		"word",
		"!delete",
		"-x",
		"+a|-b",
		"+a|b",
		"a|!delete",
		"a| +b",
		'"[""+""]"',
		'"+a"',
		'"a,b"',
		'"a""b"',
		"a\\|b",
		'"open',
		'a"b',
	),
	fc.constantFrom("1", "-0", "1.0", "007", "1e999", "12345678901234567890", "123456789012345", "9007199254740993"),
	fc.constantFrom("true", "TRUE", "True", "null", "[1]", '"{""a"":1,""a"":2}"', nested(62), nested(63), nested(64)),
	fc.constantFrom(
		"2024-02-29",
		"2023-02-29",
		"2024-1-1",
		"https://example.com/a",
		"http://",
		"c:\\x",
		"host:80",
		"urn:a",
	),
	fc.webUrl(),
	fc.string({ maxLength: 5 }).map((text) => text.replaceAll(/[",\r\n]/g, "")),
);
const column = fc.constantFrom(
	"a",
	"a:text",
	"b:number",
	"c:boolean",
	"d:list",
	"e:json",
	"url",
	"publish_date",
	"url:list",
);
const manifest = fc.record({
	columns: fc.uniqueArray(column, { maxLength: 5, selector: (name) => name.split(":")[0] }),
	hasDataset: fc.boolean(),
	rows: fc.array(fc.tuple(id, id, fc.array(cell, { minLength: 6, maxLength: 6 }), fc.nat(9)), {
		minLength: 1,
		maxLength: 8,
	}),
});
const options = fc.record({
	purpose: fc.constantFrom("tag", "tag", "tag", "rm"),
	dataset: fc.constantFrom("d1", "d1", undefined, " "),
	empty: fc.constantFrom("skip", "skip", "null", "text"),
	schema: fc.constantFrom(undefined, undefined, "none"),
	mergeOnly: fc.constantFrom(MERGE_ONLY, { token: "word", lists: false }, undefined),
	deleteToken: fc.constantFrom(undefined, "!delete"),
	set: fc.constantFrom(
		new Map(),
		new Map(),
		new Map([["url", "urn:a"]]),
		new Map([["publish_date", "x"]]),
		new Map([["deep", parseJson(nested(64))]]),
	),
} satisfies { [Name in keyof ManifestOptions]?: fc.Arbitrary<ManifestOptions[Name]> });

test("a row that is told to be sound has no fault, and the ids that its parsing finds", async () => {
	let sound = 0;
	await fc.assert(
		fc.asyncProperty(manifest, options, async ({ columns, hasDataset, rows }, given) => {
			const ids = hasDataset ? ["document_id", "dataset_id"] : ["document_id"];
			const lines = rows.map(([document, dataset, cells, odd]) => {
				// One row in ten is too short.
				const kept = cells.slice(0, odd === 9 ? columns.length - 1 : columns.length);
				return [document, ...(hasDataset ? [dataset] : []), ...kept].join(",");
			});
			const text = `${[...ids, ...columns].join(",")}\n${lines.join("\n")}\n`;
			for (const row of await judged(text, given)) {
				if (row.ids === undefined) continue;
				sound += 1;
				expect(row).toEqual({ ids: row.parsedIds, codes: [], parsedIds: row.ids });
			}
		}),
		{ numRuns: 3_000 },
	);
	// Otherwise the property would say nothing.
	expect(sound).toBeGreaterThan(500);
});
