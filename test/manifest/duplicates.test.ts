import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { checkManifest } from "../../src/manifest/check.ts";
import { Repeats } from "../../src/manifest/rows/repeats.ts";
import { checkBytes, file, inChunks, TAG, withFolder } from "./support.ts";

type Key = readonly [dataset: string, document: string];

function suspectsOf(keys: readonly Key[]) {
	const repeats = new Repeats();
	for (const [index, [dataset, document]] of keys.entries()) repeats.add(dataset, document, index);
	return repeats.suspects();
}

/** As fingerprints compare keys: a bit that tells ASCII capitals from small letters, and other characters, does not count. */
function looseKey(text: string): string {
	return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) | 0x20).join(" ");
}

describe("rows that may be about the same document", () => {
	const document = fc.oneof(fc.stringMatching(/^[0-9a-f]{1,2}$/), fc.string({ maxLength: 3 }));
	const keys = fc.array(fc.tuple(fc.constantFrom("d1", "d2", ""), document), { maxLength: 30 });
	// So many that the memory for them grows.
	const filling = Array.from({ length: 12_000 }, (_, index) => ["filling", `f${index}`] as const);

	test("are those with the same key, however many stand between them", () => {
		fc.assert(
			fc.property(keys, keys, fc.nat(99), (before, after, odd) => {
				const all: readonly Key[] = [...before, ...(odd === 99 ? filling : []), ...after];
				const names = all.map(([dataset, text]) => looseKey(dataset + text));
				const counts = new Map<string, number>();
				for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
				const repeated = names.flatMap((name, index) => (counts.get(name) === 1 ? [] : [index]));
				const suspects = suspectsOf(all);
				expect(names.flatMap((_, index) => (suspects.has(index) ? [index] : []))).toEqual(repeated);
			}),
			{ numRuns: 1_000 },
		);
	});

	test.each<[name: string, id: (row: number) => string]>([
		["counted in hexadecimal", (row) => row.toString(16).padStart(32, "0")],
		["counted in decimal", (row) => `document-${row}`],
		["counted from the left", (row) => `${row % 1000}x${Math.floor(row / 1000)}x`.padEnd(32, "0")],
	])("are none where ids are %s: comparing them would read the manifest again", (_, id) => {
		const rows = Array.from({ length: 300_000 }, (_unused, row) => ["0".repeat(32), id(row)] as const);
		expect(suspectsOf(rows).size).toBe(0);
	});
});

const HEX = "0123456789abcdef0123456789abcdef";
const row = fc.record({
	id: fc.constantFrom("a", "A", "b", HEX, HEX.toUpperCase()),
	value: fc.constantFrom("x", "y"),
});

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
