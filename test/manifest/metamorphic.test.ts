import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkBytes } from "./support.ts";

type Cells = readonly (readonly string[])[];

const KEYS = ["author", "note", "dc:title"];

/** A cell that is not empty: an empty one is a key that is not sent in CSV, and an empty text in JSON. */
const cell = fc
	.oneof(
		fc.string({ minLength: 1, maxLength: 12 }),
		fc.stringMatching(/^[a ,;"\r\n|ä😀=+@'-]+$/u),
		fc.constantFrom("007", "1e3", "true", "null", "2024-02-30", "__proto__", " x ", "a\nb", "\u2028", '"', "=1+1"),
	)
	.filter((text) => !text.includes("\0") && !/\p{Surrogate}/u.test(text));
const manifest: fc.Arbitrary<Cells> = fc
	.array(fc.array(cell, { minLength: KEYS.length, maxLength: KEYS.length }), { minLength: 1, maxLength: 6 })
	.filter((rows) => rows.length > 0);

/** Ways to write the same rows down. None may make a difference to what is sent. */
const dress = fc.record({
	form: fc.constantFrom("csv", "jsonl", "json"),
	delimiter: fc.constantFrom(",", ";", "\t"),
	end: fc.constantFrom("\n", "\r\n"),
	quoteAll: fc.boolean(),
	encoding: fc.constantFrom("bare", "marked", "utf16le", "utf16be"),
	gzip: fc.boolean(),
	lastEnd: fc.boolean(),
	chunk: fc.constantFrom(1, 2, 3, 7, 64, 4096),
});

type Dress = typeof dress extends fc.Arbitrary<infer Value> ? Value : never;

function bytesOf(rows: Cells, { form, delimiter, end, quoteAll, encoding, gzip, lastEnd }: Dress): Uint8Array {
	const quote = (text: string): string =>
		quoteAll || /[",;\t\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;
	const objects = rows.map((cells, at) => ({
		document_id: `doc-${at}`,
		meta_fields: Object.fromEntries(KEYS.map((key, place) => [key, cells[place] ?? ""])),
	}));
	const header = ["document_id", "author", "note", "dc:title:text"];
	const lines =
		form === "csv"
			? [header, ...rows.map((cells, at) => [`doc-${at}`, ...cells])].map((cells) => cells.map(quote).join(delimiter))
			: objects.map((object) => JSON.stringify(object));
	const body = form === "json" ? JSON.stringify(objects, undefined, 1) : lines.join(end) + (lastEnd ? end : "");
	const isWide = encoding === "utf16le" || encoding === "utf16be";
	const bytes = Buffer.from(encoding === "bare" ? body : `\uFEFF${body}`, isWide ? "utf16le" : "utf8");
	if (encoding === "utf16be") bytes.swap16();
	return gzip ? gzipSync(bytes) : bytes;
}

test("the same rows give the same plan, however they are written down: another editor must not change what is sent", async () => {
	await fc.assert(
		fc.asyncProperty(manifest, dress, dress, async (rows, one, other) => {
			const plans = await Promise.all(
				[one, other].map(async (each) => {
					const { problems, rows: read } = await checkBytes(bytesOf(rows, each), { schema: "none" }, each.chunk);
					expect(problems).toEqual([]);
					return read.map(({ index, datasetId, documentId, metadata }) => ({
						index,
						datasetId,
						documentId,
						metadata: [...metadata],
					}));
				}),
			);
			expect(plans[0]).toHaveLength(rows.length);
			expect(plans[0]).toEqual(plans[1]);
		}),
		{ numRuns: 300 },
	);
});
