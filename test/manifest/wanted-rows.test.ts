import { expect, test } from "vitest";
import { checkManifest } from "../../src/manifest/check.ts";
import { inChunks, TAG } from "./support.ts";

// Row 1 is of line 3, and row 2 has a line end in a cell. Row 3 is no valid row.
const CSV = 'document_id,author\na,"A"\nb,"B\nB"\nc,C\n"",D\ne,E\n';
const JSONL = ["a", "b", "c", "", "e"].map((id) => `{"document_id":"${id}","author":"${id}"}\n`).join("");

test.each([
	[
		"csv",
		CSV,
		[
			[1, 3, "b"],
			[4, 7, "e"],
		],
	],
	[
		"jsonl",
		JSONL,
		[
			[1, 2, "b"],
			[4, 5, "e"],
		],
	],
] as const)("a resume gets each %s row that is left with its own position and line", async (_, text, left) => {
	const input = { stdin: inChunks(Buffer.from(text), 7), onProblem: () => undefined };
	const checked = await checkManifest("-", TAG, input);
	try {
		const seen: unknown[] = [];
		const asked: number[] = [];
		const isWanted = (index: number): boolean => {
			asked.push(index);
			return index === 1 || index === 4;
		};
		for await (const rows of checked.readBatches(isWanted)) {
			for (const { index, line, documentId } of rows) seen.push([index, line, documentId]);
		}
		expect(seen).toEqual(left);
		expect(asked).toEqual([0, 1, 2, 4]);
	} finally {
		await checked.close();
	}
});
