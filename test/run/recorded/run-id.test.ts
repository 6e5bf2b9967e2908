import fc from "fast-check";
import { expect, it } from "vitest";
import { isRunId, runId } from "../../../src/run/recorded/run-file.ts";

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
