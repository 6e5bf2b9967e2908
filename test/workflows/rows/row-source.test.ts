import { expect, test } from "vitest";
import type { IsWanted, Row } from "../../../src/manifest/types.ts";
import { unsettled, unsettledChunks } from "../../../src/workflows/rows/row-source.ts";

function row(index: number): Row {
	const source = { text: "" };
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
	async function* readBatches(isWanted: IsWanted = () => true): AsyncGenerator<readonly Row[]> {
		yield* batches.map((indexes) => indexes.filter(isWanted).map(row));
	}
	const journal = { isSettled: (index: number) => index === 5 };
	for (const source of [{ read }, { read, readBatches }]) {
		const seen: number[][] = [];
		for await (const chunk of unsettledChunks(source, journal, size)) seen.push(chunk.map(({ index }) => index));
		expect(seen).toEqual(expected);
	}
});

test("a settled row is not even parsed: a run that was nearly done has millions of them", async () => {
	const parsed: number[] = [];
	async function* readBatches(isWanted: IsWanted = () => true): AsyncGenerator<readonly Row[]> {
		const rows = [0, 1, 2, 3].filter(isWanted);
		parsed.push(...rows);
		yield rows.map(row);
	}
	async function* read(): AsyncGenerator<Row> {
		for await (const rows of readBatches()) yield* rows;
	}
	const journal = { isSettled: (index: number) => index < 3 };
	for await (const chunk of unsettledChunks({ read, readBatches }, journal, 9)) expect(chunk.length).toBe(1);
	for await (const { index } of unsettled({ read, readBatches }, journal)) expect(index).toBe(3);
	expect(parsed).toEqual([3, 3]);
});
