import fc from "fast-check";
import { expect, test } from "vitest";
import { csvReader } from "../../src/manifest/csv/reader.ts";
import { ReadingStop } from "../../src/manifest/fault.ts";
import { jsonReader } from "../../src/manifest/json/reader.ts";
import type { RowReader } from "../../src/manifest/rows/row-reader.ts";
import { TAG } from "./support.ts";

const OPTIONS = { ...TAG, mergeOnly: { token: "!delete", lists: true } };

/** All that a reader makes of a text that comes in pieces of that many characters. */
function readIn(reader: RowReader, text: string, size: number): unknown[] {
	const read: unknown[] = [];
	const take = (rows: ReturnType<RowReader["push"]>): void => {
		for (const raw of rows) {
			const { faults, metadata } = reader.parse(raw);
			read.push([raw.text, raw.line, raw.column, raw.fault, faults, Array.from(metadata)]);
		}
		if (reader.stop !== undefined) throw reader.stop;
	};
	try {
		for (let at = 0; at < text.length; at += size) take(reader.push(text.slice(at, at + size)));
		take(reader.end());
	} catch (error) {
		if (!(error instanceof ReadingStop)) throw error;
		read.push([error.code, error.message, error.at]);
	}
	return [...read, ...reader.headFaults];
}

const csv = [
	"document_id,a:json,b:list,n:number\n",
	"sep=;",
	";",
	"\t",
	"|",
	"+x",
	"!delete",
	"\r\n",
	"\r",
	"\0",
	'""',
];

const json = ["[", "]", "{", "}", ":", "\\", "1e999", "NaN", "true", '"document_id"', '"a"', '"meta_fields":{', '"x":'];
const shared = [",", '"', "\n", " ", "a", "1", "é", "😀"];
const textOf = (starts: readonly string[], tokens: readonly string[]): fc.Arbitrary<string> =>
	fc
		.tuple(fc.constantFrom(...starts), fc.array(fc.constantFrom(...tokens, ...shared), { maxLength: 25 }))
		.map(([start, rest]) => start + rest.join(""));

test.each<[name: string, make: () => RowReader, texts: fc.Arbitrary<string>]>([
	["CSV", () => csvReader(OPTIONS), textOf(["document_id,a\n", "sep=;\r\ndocument_id;a:list\n", "", "\n"], csv)],
	["a JSON array", () => jsonReader("json", OPTIONS), textOf(["[", '[{"document_id":"1"},', '[{"a":["x"'], json)],
	["JSON lines", () => jsonReader("jsonl", OPTIONS), textOf(["{", '{"document_id":"1"}\n', '{"a":["x"'], json)],
])("%s says the same wherever the pieces of its text end", (_, make, texts) => {
	fc.assert(
		fc.property(texts, fc.integer({ min: 1, max: 7 }), (text, size) => {
			expect(readIn(make(), text, size)).toEqual(readIn(make(), text, text.length + 1));
		}),
		{ numRuns: 3_000 },
	);
});
