import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { checkManifest } from "../../src/manifest/check.ts";
import { Repeats } from "../../src/manifest/rows/repeats.ts";
import { checkBytes, file, inChunks, TAG, withFolder } from "./support.ts";

describe("rows that may be about the same document", () => {
	test.each<[name: string, id: (row: number) => string]>([
		["counted in hexadecimal", (row) => row.toString(16).padStart(32, "0")],
		["counted in decimal", (row) => `document-${row}`],
		["counted from the left", (row) => `${row % 1000}x${Math.floor(row / 1000)}x`.padEnd(32, "0")],
	])("are none where ids are %s: comparing them would read the manifest again", (_, id) => {
		const repeats = new Repeats();
		for (let at = 0; at < 300_000; at++) repeats.add("0".repeat(32), id(at), at);
		expect(repeats.suspects().size).toBe(0);
	});
});

const HEX = "0123456789abcdef0123456789abcdef";
const row = fc.record({ id: fc.constantFrom("a", "A", "b", HEX, HEX.toUpperCase()), value: fc.constantFrom("x", "y") });

test("--on-duplicate decides as its words say, wherever the rows stand", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(row, { minLength: 1, maxLength: 12 }),
			fc.constantFrom("error", "first", "last"),
			async (given, onDuplicate) => {
				const sent = new Map<string, number>();
				const conflicts: number[] = [];
				for (const [index, { id, value }] of given.entries()) {
					const key = id.length === HEX.length ? id.toLowerCase() : id;
					const earlier = sent.get(key);
					if (earlier === undefined) sent.set(key, index);
					else if (value === given[earlier]?.value || onDuplicate === "first") continue;
					else if (onDuplicate === "last") sent.set(key, index);
					else conflicts.push(index);
				}
				const text = `document_id,a\n${given.map(({ id, value }) => `${id},${value}\n`).join("")}`;
				const { rows, checked, places } = await checkBytes(text, { onDuplicate });
				expect(rows.map(({ index }) => index)).toEqual([...sent.values()].toSorted((one, other) => one - other));
				expect(places).toEqual(conflicts.map((index) => `${index + 2}:1 DUPLICATE`));
				expect(checked).toMatchObject({
					rows: given.length,
					invalid: conflicts.length,
					duplicateSkipped: given.length - sent.size - conflicts.length,
				});
			},
		),
		{ numRuns: 300 },
	);
});

test("rows after the fault that ends the reading are not compared, and those before it are", async () => {
	const { places } = await checkBytes('document_id,a\n1,x\n1,y\n2,x\n2,"y\n');
	expect(places).toEqual(["5:3 UNCLOSED_QUOTE", "3:1 DUPLICATE"]);
});

test("a manifest that is changed before its duplicates are compared is not sent", async () => {
	await withFolder(async (folder) => {
		const rows = Array.from({ length: 5000 }, (_, index) => `${index % 4999},x\n`).join("");
		const path = await file(folder, "m.csv", `document_id,a\n${rows}`);
		const checking = checkManifest(path, TAG, {
			stdin: inChunks(Buffer.alloc(0), 1),
			onProblem: () => undefined,
			onProgress: () => writeFileSync(path, `document_id,a\n${rows.replaceAll("x", "y")}`),
		});
		await expect(checking).rejects.toMatchObject({ exit: Exit.foreign });
	});
});
