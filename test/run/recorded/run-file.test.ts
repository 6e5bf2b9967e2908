import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byAge, takeOrder, runId, isRunId } from "../../../src/run/recorded/run-file.ts";
import { folder } from "../../support/service.ts";
import { range } from "../../support/values.ts";

type RunAge = Parameters<typeof byAge>[0];

const aged = (day: number, order = 0): RunAge => {
	const time = Date.UTC(2026, 0, day);
	return { run: runId(time, order), started: new Date(time).toISOString(), order };
};

describe("the age of a run", () => {
	it("follows its number, or undo would pick the wrong run after a wrong clock", () => {
		const runs = [aged(9, 1), aged(3, 2), aged(5, 3)];
		expect(runs.toReversed().toSorted(byAge)).toEqual(runs);
	});

	it("follows the time for merged runs that all others followed, which have the number 0", () => {
		const runs = [aged(4), aged(8), aged(1, 1), aged(2, 2)];
		expect(runs.toReversed().toSorted(byAge)).toEqual(runs);
	});

	it("is a total order: any input order sorts to the same result", () => {
		const one = fc.record({ day: fc.integer({ min: 1, max: 28 }), order: fc.integer({ min: 0, max: 9 }) });
		fc.assert(
			fc.property(fc.array(one, { maxLength: 8 }), (all) => {
				const runs = all.map(({ day, order }) => aged(day, order));
				const names = (list: readonly RunAge[]): string[] => list.toSorted(byAge).map(({ run }) => run);
				expect(names(runs.toReversed())).toEqual(names(runs));
			}),
		);
	});
});

describe("the number of a run", () => {
	it("is unique among simultaneous starts, and larger than all before", async () => {
		const runs = await folder();
		const first = await Promise.all(range(20).map(() => takeOrder(runs, [])));
		expect(new Set(first).size).toBe(20);
		expect(await takeOrder(runs, [])).toBeGreaterThan(Math.max(...first));
	});

	it("comes from the records if its file is lost, or an old one was restored", async () => {
		const runs = await folder();
		const records = [aged(1, 7), aged(2, 41), aged(3)];
		expect(await takeOrder(runs, records)).toBe(42);
		await rm(join(runs, ".order"), { recursive: true });
		expect(await takeOrder(runs, records)).toBe(42);
		await rm(join(runs, ".order"), { recursive: true });
		await mkdir(join(runs, ".order"));
		await writeFile(join(runs, ".order", "3"), "");
		expect(await takeOrder(runs, records)).toBe(42);
		expect(await readdir(join(runs, ".order"))).toEqual(["42"]);
	});

	it("is not read from invalid content", async () => {
		const runs = await folder();
		await mkdir(join(runs, ".order"));
		for (const name of ["9007199254740993", "10000000000000", "-4", "1.5", "x", ""]) {
			if (name !== "") await writeFile(join(runs, ".order", name), "");
		}
		expect(await takeOrder(runs, [])).toBe(1);
	});
});

it("the names of runs sort by age, or runs resume would pick another than the newest", () => {
	const moment = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2099, 11) });
	const chance = fc.nat(4095);
	fc.assert(
		fc.property(moment, fc.integer({ min: 1, max: 5_000 }), chance, chance, (now, later, one, other) => {
			expect(runId(now, one) < runId(now + later, other)).toBe(true);
			expect(isRunId(runId(now, one))).toBe(true);
		}),
	);
});

it.each(["", ".", "..", "../20261121T175147-1ec2fb", "20261121T175147-1ec2fb/..", "20261121T175147-1EC2FB"])(
	"%j names no run: it could lead out of their folder",
	(text) => expect(isRunId(text)).toBe(false),
);
