import { expect, test } from "vitest";
import type { Row } from "../../../src/manifest/types.ts";
import { unsettledChunks } from "../../../src/workflows/rows/row-source.ts";

function row(index: number): Row {
	const source = { kind: "csv", cells: [] } as const;
	return {
		index,
		line: index + 2,
		datasetId: "d",
		documentId: `${index}`,
		file: undefined,
		metadata: new Map(),
		source,
	};
}

test.each<[batches: number[][], size: number, expected: number[][]]>([
	[[], 3, []],
	[[[0, 1]], 3, [[0, 1]]],
	[[[0, 1], [2]], 3, [[0, 1, 2]]],
	[[[0, 1, 2, 3, 4, 5]], 2, [[0, 1], [2, 3], [4]]],
	[[[0], [], [1, 5, 5], [2]], 2, [[0, 1], [2]]],
	[[[5]], 1, []],
])("chunks of %j by %d hold each row that is not settled, once and in order", async (batches, size, expected) => {
	async function* read(): AsyncGenerator<Row> {
		yield* batches.flat().map(row);
	}
	async function* readBatches(): AsyncGenerator<readonly Row[]> {
		yield* batches.map((indexes) => indexes.map(row));
	}
	const journal = { isSettled: (index: number) => index === 5 };
	for (const source of [{ read }, { read, readBatches }]) {
		const seen: number[][] = [];
		for await (const chunk of unsettledChunks(source, journal, size)) seen.push(chunk.map(({ index }) => index));
		expect(seen).toEqual(expected);
	}
});
