import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import { readJournal } from "../../../src/run/journal/reader.ts";
import { countedOf } from "../../../src/run/journal/record-line.ts";
import { goodEntries } from "../../../src/run/journal/lines.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { JournalWriter } from "../../../src/run/journal/writer.ts";
import { afterPowerLoss, FakeDisk } from "./fake-disk.ts";
import { bytesOf, header, inPieces, outcome } from "./support.ts";

/** What is left of a journal, read as a resume reads it, or as a repair does where that refuses. */
async function reopened(bytes: Uint8Array): Promise<JournalState> {
	try {
		return (await readJournal(inPieces(bytes), "journal.log")).state;
	} catch (error) {
		if (!(error instanceof JournalUnreadable)) throw error;
		const state = new JournalState();
		for await (const entry of goodEntries(inPieces(bytes))) {
			const record = countedOf(entry);
			if (record !== undefined) state.apply(record);
		}
		return state;
	}
}

describe("a disk that loses power", () => {
	it("keeps every outcome reported as durable, whatever it drops, keeps or reorders of the rest", async () => {
		const seed = fc.integer({ min: 1, max: 2 ** 31 - 1 });
		const scenario = fc.record({
			rows: fc.integer({ min: 1, max: 30 }),
			together: fc.integer({ min: 1, max: 8 }),
			mostTaken: fc.integer({ min: 20, max: 2_000 }),
			operations: fc.nat(80),
			seed,
		});
		let torn = 0;
		await fc.assert(
			fc.asyncProperty(scenario, async ({ rows, together, mostTaken, operations, seed: from }) => {
				const disk = new FakeDisk(bytesOf([header()]));
				disk.mostTaken = mostTaken;
				let left = operations;
				// The power goes during that operation: it never answers.
				let dark = (): void => undefined;
				const power = new Promise<void>((resolve) => (dark = resolve));
				disk.gate = () => {
					if (left-- > 0) return undefined;
					dark();
					return new Promise<never>(() => undefined);
				};
				const begun = new JournalState();
				begun.apply(header());
				const writer = new JournalWriter(disk.open(), "journal.log", disk.bytes.length, begun);
				const durable = new Set<number>();
				const work = async (): Promise<void> => {
					for (let row = 0; row < rows; row += together) {
						const batch = Array.from({ length: Math.min(together, rows - row) }, (_, place) => row + place);
						await Promise.all(batch.map((one) => writer.append(outcome(one)).then(() => durable.add(one))));
					}
				};
				await Promise.race([work(), power]);
				let number = from;
				const random = (): number => (number = (number * 48_271) % (2 ** 31 - 1)) / (2 ** 31 - 1);
				for (let loss = 0; loss < 5; loss++) {
					const bytes = afterPowerLoss(disk, random);
					const state = await reopened(bytes);
					for (const row of durable) expect(state.statusOf(row)).toBe("unchanged");
					expect(state.totals().unchanged).toBeLessThanOrEqual(rows);
					if (state.totals().unchanged < rows) torn += 1;
				}
			}),
			{ numRuns: 200 },
		);
		// Otherwise the power was never lost in the middle of anything.
		expect(torn).toBeGreaterThan(100);
	});
});
