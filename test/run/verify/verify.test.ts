import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RowStatus } from "../../../src/outcomes.ts";
import { createRun } from "../../../src/run/journal/writer.ts";
import { type RecordedRun } from "../../../src/run/journal/reader.ts";
import type { SentRecord } from "../../../src/run/journal/records.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { type LaterRun, writtenAgain } from "../../../src/run/verify/later-runs.ts";

import type { JudgedRow } from "../../../src/run/verify/verify.ts";
import { pickRows } from "../../../src/run/verify/picked-rows.ts";
import { folder } from "../../support/service.ts";
import { range } from "../../support/values.ts";
import { header, outcome, sent, readWhole } from "../journal/support.ts";

describe("a sample, from which a whole run is judged", () => {
	/** A generator of the 32 bits kind, so that the test is the same each time. */
	const chance = (seed: number) => () => {
		seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
		return seed / 2 ** 32;
	};

	async function runOf(rows: number): Promise<RecordedRun> {
		const path = join(await folder(), "run");
		const journal = await createRun(path, header());
		await Promise.all(range(rows).map((row) => journal.append(sent(row))));
		await Promise.all(range(rows).map((row) => journal.append(outcome(row, "updated"))));
		await journal.close();
		return readWhole(path);
	}

	it("picks each row equally often, the first and the last too", async () => {
		const run = await runOf(400);
		const random = chance(1);
		const times = range(400).map(() => 0);
		for (let round = 0; round < 100; round++) {
			const { has, count } = await pickRows(run, "sample", random);
			expect(count).toBe(300);
			for (const row of range(400)) times[row] = (times[row] ?? 0) + (has(row) ? 1 : 0);
		}
		// 75 each is expected, and 4.3 the standard deviation.
		for (const picked of times) expect(Math.abs(picked - 75)).toBeLessThan(22);
	});

	it("is everything if there is less than the sample", async () => {
		const { has, count } = await pickRows(await runOf(7), "sample", () => 0);
		expect(count).toBe(7);
		expect(range(7).every(has)).toBe(true);
	});
});

describe("documents that a later run wrote again", () => {
	const row = (n: number, order = 1): JudgedRow => ({
		row: n,
		line: n + 2,
		datasetId: "set",
		documentId: `doc-${n}`,
		write: "update",
		order,
		result: "lost",
		keys: ["author"],
		isListed: true,
	});
	const later = (
		name: string,
		records: readonly SentRecord[],
		status: RowStatus | "open" = "updated",
		isWhole = true,
	): LaterRun => {
		const state = new JournalState();
		state.apply(header());
		for (const record of records) {
			state.apply(record);
			if (status !== "open") state.apply(outcome(record.row, status));
		}
		return {
			name,
			replacesAll: isWhole,
			state,
			sentRecords: async function* () {
				for (const record of records) yield { order: 2, ...record };
			},
		};
	};
	const again = async (rows: readonly JudgedRow[], ...runs: LaterRun[]): Promise<[number, string][]> => [
		...(await writtenAgain(rows, async function* () {
			yield* runs;
		})),
	];

	it("are found by dataset and id, and the last run is named", async () => {
		const first = later("first", [sent(1), sent(2)]);
		const second = later("second", [sent(2), sent(4, { documentId: "doc-3", datasetId: "another" })]);
		expect(await again([row(1), row(2), row(3)], first, second)).toEqual([
			[1, "first"],
			[2, "second"],
		]);
	});

	it("exclude a later run that was refused, or wrote before this run was resumed", async () => {
		expect(await again([row(1)], later("later", [sent(1)], "failed"))).toEqual([]);
		expect(await again([row(1, 3)], later("later", [sent(1, { order: 2 })]))).toEqual([]);
		expect(await again([row(1, 3)], later("later", [sent(1, { order: 4 })]))).toEqual([[1, "later"]]);
	});

	it("exclude a later run that stopped before it surely sent the row, or a loss would be blamed on it", async () => {
		expect(await again([row(1)], later("later", [sent(1)], "open"))).toEqual([]);
	});

	it("exclude a later merge that kept the lost value as it found it", async () => {
		const before = new Map([["author", "old"]]);
		const merged = sent(1, { before, metadata: new Map([...before, ["pages", "3"]]) });
		expect(await again([row(1)], later("merge", [merged], "updated", false))).toEqual([]);
		const changed = sent(1, { before, metadata: new Map([["author", "another"]]) });
		expect(await again([row(1)], later("merge", [changed], "updated", false))).toEqual([[1, "merge"]]);
		const unseen = sent(1, { metadata: before });
		expect(await again([row(1)], later("merge", [unseen], "updated", false))).toEqual([[1, "merge"]]);
		// Whoever says all that the document is to have means the old value, too.
		expect(await again([row(1)], later("replace", [merged]))).toEqual([[1, "replace"]]);
	});
});
