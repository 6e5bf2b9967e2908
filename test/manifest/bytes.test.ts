import fc from "fast-check";
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { appendFile, truncate, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { checkManifest } from "../../src/manifest/check.ts";
import { BLOCK_BYTES } from "../../src/manifest/limits.ts";
import { check, checkBytes, file, inChunks, TAG, withFolder } from "./support.ts";

const TEXT = 'document_id,a\n1,"ä€😀"\n2,é\n';

function utf16(text: string, bigEndian: boolean): Buffer {
	const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
	return bigEndian ? bytes.swap16() : bytes;
}

describe("each cell of a file of several blocks is its own, not that of a later block", () => {
	// Digests, so that the gzip has several blocks as well, and emoji, so that the end of a block cuts one.
	const values = Array.from({ length: 12_000 }, (_, row) => `${"😀".repeat(20)}${hash("sha256", String(row), "hex")}`);
	const text = `document_id,a\n${values.map((value, row) => `${row},${value}\n`).join("")}`;
	test.each([
		["UTF-8", Buffer.from(text)],
		["UTF-16BE", utf16(text, true)],
		["gzip of two members", Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))])],
		["gzip of UTF-16LE", gzipSync(utf16(text, false))],
	])("%s", async (_, bytes) => {
		expect(bytes.length).toBeGreaterThan(BLOCK_BYTES);
		await withFolder(async (folder) => {
			const { rows, problems } = await check(await file(folder, "m.csv", bytes));
			expect(problems).toEqual([]);
			expect(rows.map(({ metadata }) => metadata.get("a"))).toEqual(values);
		});
	});
});

describe("bytes that are no text are refused, never replaced", () => {
	test.each([
		["Latin-1", Buffer.from("document_id,a\n1,\xe9t\xe9\n", "latin1"), "2:3 ENCODING"],
		[
			"a surrogate",
			Buffer.concat([Buffer.from("document_id,a\n1,x"), Buffer.from([0xed, 0xa0, 0x80])]),
			"2:4 ENCODING",
		],
		["overlong", Buffer.concat([Buffer.from("document_id,a\n1,x"), Buffer.from([0xc0, 0xaf, 0x0a])]), "2:4 ENCODING"],
		["a character cut off by the end", Buffer.from("document_id,a\n1,😀").subarray(0, -1), "2:3 ENCODING"],
		["half a character in UTF-16", utf16(`document_id,a\n1,x\ud800y\n`, false), "2:4 ENCODING"],
		["UTF-16 that is cut off", utf16(TEXT, true).subarray(0, -1), "3:4 ENCODING"],
		["UTF-16 without a mark", Buffer.from(TEXT, "utf16le"), "1:1 ENCODING"],
		["a broken gzip", gzipSync(TEXT.repeat(50)).subarray(0, -9), ""],
		["bytes after the gzip", Buffer.concat([gzipSync(TEXT), Buffer.from("3,x\n")]), "1:1 GZIP_TRAILING"],
		["zeros after the gzip", Buffer.concat([gzipSync(TEXT), Buffer.alloc(9)]), "4:1 GZIP_TRAILING"],
		["a zip", Buffer.from("PK\u0003\u0004....."), "1:1 PACKED"],
	])("%s", async (_, bytes, place) => {
		const { places, checked, rows } = await checkBytes(bytes);
		expect(checked.fatal).toBe(true);
		expect(rows).toEqual([]);
		if (place === "") expect(places.at(-1)).toMatch(/GZIP/);
		else expect(places).toEqual([place]);
	});

	test("a bomb ends early", async () => {
		const zeros = gzipSync(Buffer.alloc(8 * 1024 * 1024, "x"));
		expect((await checkBytes(zeros)).places).toEqual([expect.stringMatching(/ TOO_LONG$/)]);
	});
});

test.each([
	["", 0],
	["\uFEFF", 0],
	["\n\r\n", 0],
	["document_id,a\n", 0],
	["[]", 0],
])("%j has no rows", async (text, rows) => {
	const { checked } = await checkBytes(text);
	expect(checked.rows).toBe(rows);
});

test("a missing manifest, or a folder, is wrong usage", async () => {
	await withFolder(async (folder) => {
		await expect(check(`${folder}/none.csv`)).rejects.toMatchObject({ exit: Exit.usage });
		await expect(check(folder)).rejects.toMatchObject({ exit: Exit.usage });
	});
});

describe("rows of a manifest that changed after the check are not sent", () => {
	const long = `document_id,a\n${Array.from({ length: 40_000 }, (_, index) => `${index},value ${index}\n`).join("")}`;
	const changes: readonly (readonly [string, (path: string) => Promise<void>])[] = [
		["appended to", (path) => appendFile(path, "x,y\n")],
		["cut", (path) => truncate(path, long.length - 10)],
		["changed in its last letter", (path) => writeFile(path, `${long.slice(0, -2)}!\n`)],
	];
	test.each(changes)("%s", async (_, change) => {
		await withFolder(async (folder) => {
			const path = await file(folder, "m.csv", long);
			const checked = await checkManifest(path, TAG, {
				stdin: inChunks(Buffer.alloc(0), 1),
				onProblem: () => undefined,
			});
			await change(path);
			let last = -1;
			const reading = (async () => {
				for await (const row of checked.read()) last = row.line;
			})();
			await expect(reading).rejects.toMatchObject({ exit: Exit.foreign });
			// Nothing of the changed block, which here is the third.
			expect(long.split("\n").slice(0, last).join("\n").length).toBeLessThanOrEqual(2 * 256 * 1024);
			await checked.close();
		});
	});
});

test("no bytes make the check crash or hang", async () => {
	const seeds = [
		TEXT,
		'[{"document_id":"1","a":[1,{"b":null}]},\n{"document_id":"2"}]',
		'{"document_id":"1","meta_fields":{"x":"\\u00e4"}}\n',
	];
	const mutation = fc.record({
		seed: fc.constantFrom(...seeds),
		edits: fc.array(
			fc.tuple(fc.nat(80), fc.constantFrom("flip", "insert", "delete"), fc.integer({ min: 0, max: 255 })),
			{ minLength: 1, maxLength: 4 },
		),
		chunk: fc.integer({ min: 1, max: 20 }),
	});
	await fc.assert(
		fc.asyncProperty(mutation, async ({ seed, edits, chunk }) => {
			const bytes = Array.from(Buffer.from(seed));
			for (const [at, kind, byte] of edits)
				bytes.splice(at % bytes.length, kind === "insert" ? 0 : 1, ...(kind === "delete" ? [] : [byte]));
			const { checked, problems, rows } = await checkBytes(Uint8Array.from(bytes), {}, chunk);
			expect(checked.problems).toBe(problems.length);
			for (const { line, column, text } of problems) {
				expect(line >= 1 && column >= 1).toBe(true);
				expect(text).not.toMatch(/\p{Cc}/u);
			}
			if (!checked.fatal) expect(rows.length).toBe(checked.rows - checked.invalid - checked.duplicateSkipped);
		}),
		{ numRuns: 400 },
	);
});

test("standard input that can't be kept is the storage's fault, not the program's: nothing was sent", async () => {
	const temporaryFolder = "/nonexistent/ragtag";
	const stdin = inChunks(Buffer.from(TEXT), 8);
	const checked = checkManifest("-", TAG, { stdin, onProblem: () => undefined, temporaryFolder });
	await expect(checked).rejects.toMatchObject({
		exit: Exit.storage,
		message: expect.stringContaining("nothing was sent"),
	});
});
