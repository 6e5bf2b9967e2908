import { describe, expect, it } from "vitest";
import { knownCounts, rowsByDataset } from "../../../src/run/documents/row-counts.ts";

const rows = ["a", "b", "a"].map((datasetId) => ({ datasetId }));

describe("rows are counted", () => {
	it("for each dataset, so a large one is not listed because of another's rows", async () => {
		const counts = await rowsByDataset(rows);
		expect(counts).toEqual(
			new Map([
				["a", 2],
				["b", 1],
			]),
		);
		expect(["a", "b", "none"].map((dataset) => knownCounts(counts).reaches(dataset, 2))).toEqual([true, false, false]);
	});

	it("no higher than what a run that goes on has left: it would list a dataset for its last row", () => {
		const counts = new Map([["a", 100_000]]);
		expect([1, 2].map((wanted) => knownCounts(counts, 1).reaches("a", wanted))).toEqual([true, false]);
	});
});
