import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CountedRows, knownCounts, rowsByDataset } from "../../../src/run/documents/row-counts.ts";
import { range } from "../../support/values.ts";

type Row = { readonly datasetId: string };

/** Those rows, and how many of them were read. */
function source(rows: readonly Row[]) {
	const read = { rows: 0, ended: 0 };
	const rowsAnew = async function* () {
		try {
			for (const row of rows) {
				read.rows += 1;
				yield row;
			}
		} finally {
			read.ended += 1;
		}
	};
	return { read, rowsAnew };
}

const rowsOf = (datasetId: string, count: number): Row[] => range(count).map(() => ({ datasetId }));

describe("rows are counted", () => {
	it("for each dataset, so a large one is not listed because of another's rows", async () => {
		const { rowsAnew } = source([...rowsOf("a", 1), ...rowsOf("b", 1), ...rowsOf("a", 1)]);
		expect(await rowsByDataset(rowsAnew())).toEqual(
			new Map([
				["a", 2],
				["b", 1],
			]),
		);
	});

	it("as if all of them had been counted, whatever is asked in which order, also at the same time", async () => {
		const runs = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(3_000)), { maxLength: 6 });
		const question = fc.tuple(
			fc.constantFrom("a", "b", "c", "none"),
			fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.constant(Number.POSITIVE_INFINITY)),
		);
		await fc.assert(
			fc.asyncProperty(runs, fc.array(question, { maxLength: 6 }), fc.boolean(), async (all, questions, atOnce) => {
				const rows = all.flatMap(([datasetId, count]) => rowsOf(datasetId, count));
				const { read, rowsAnew } = source(rows);
				const counted = new CountedRows(rowsAnew, rows.length);
				const known = knownCounts(await rowsByDataset(rowsAnew()));
				read.rows = 0;
				const ask = async ([datasetId, count]: readonly [string, number]): Promise<void> => {
					expect(await counted.reaches(datasetId, count)).toBe(known.reaches(datasetId, count));
				};
				if (atOnce) await Promise.all(questions.map(ask));
				else for (const each of questions) await ask(each);
				expect(read.rows).toBeLessThanOrEqual(rows.length * 2.5);
			}),
			{
				numRuns: 60,
				// A reading that ends with the last row is whole: it was read once more.
				examples: [
					[
						[
							["a", 630],
							["b", 1505],
							["a", 552],
							["c", 1313],
						],
						[
							["b", 1371],
							["c", 1],
							["none", 1],
						],
						false,
					],
				],
			},
		);
	});

	it("no further than the decision needs, and what was opened is closed", async () => {
		const { read, rowsAnew } = source([...rowsOf("a", 100_000), ...rowsOf("b", 1)]);
		const counted = new CountedRows(rowsAnew, 100_001);
		expect(await Promise.all([counted.reaches("a", 2), counted.reaches("a", 201)])).toEqual([true, true]);
		expect(read).toEqual({ rows: 1_000, ended: 1 });
		expect(await counted.reaches("a", 100_002)).toBe(false);
		expect(await counted.reaches("a", Number.POSITIVE_INFINITY)).toBe(false);
		expect(read).toEqual({ rows: 1_000, ended: 1 });
		expect(await counted.reaches("b", 1)).toBe(true);
		expect(read.ended).toBe(2);
	});
});
