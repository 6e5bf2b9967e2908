import { describe, expect, it } from "vitest";
import { noOutcomes } from "../../../src/outcomes.ts";
import { errorLimit, type MaxErrors, SameRefusals } from "../../../src/run/stop/limits.ts";
import type { Totals } from "../../../src/run/types.ts";

function totals(updated: number, failed: number): Totals {
	const none = { ...noOutcomes(), invalid: 0, duplicateSkipped: 0 };
	return { ...none, rows: 1_000, updated, failed, pending: 1_000 - updated - failed, attempts: 0 };
}

describe("--max-errors", () => {
	it.each<[MaxErrors | undefined, number, number, boolean]>([
		[undefined, 0, 1_000, false],
		[{ unit: "rows", value: 1 }, 10, 0, false],
		[{ unit: "rows", value: 1 }, 0, 1, true],
		[{ unit: "rows", value: 3 }, 900, 2, false],
		[{ unit: "rows", value: 3 }, 900, 3, true],
		[{ unit: "percent", value: 5 }, 0, 99, false],
		[{ unit: "percent", value: 5 }, 95, 5, true],
		[{ unit: "percent", value: 5 }, 96, 5, false],
		[{ unit: "percent", value: 0.1 }, 999, 1, true],
		[{ unit: "percent", value: 100 }, 1, 99, false],
		[{ unit: "percent", value: 100 }, 0, 100, true],
	])("%j: %d done and %d failed stop the run: %s", (limit, updated, failed, stops) => {
		expect(errorLimit(limit, totals(updated, failed)) !== undefined).toBe(stops);
	});

	it("names the limit and the count that reached it", () => {
		const stop = errorLimit({ unit: "percent", value: 5 }, totals(95, 5));
		expect(stop?.text).toBe("stopped by --max-errors 5 %: 5 of 100 finished rows failed");
	});
});

describe("rows that are all refused alike", () => {
	const refuse = (refused: SameRefusals, codes: readonly string[]): number =>
		codes.findIndex((code) => refused.failed({ code, text: "no" }) !== undefined);

	it("stop the run at the tenth", () => {
		const codes = Array.from({ length: 12 }, () => "CODE_102");
		expect(refuse(new SameRefusals(), codes)).toBe(9);
	});

	it("go on with an undo whose documents keep keys, but not with a run that was to remove them", () => {
		const codes = Array.from({ length: 12 }, () => "KEYS_KEPT");
		expect(refuse(new SameRefusals(new Set(["KEYS_KEPT"])), codes)).toBe(-1);
		expect(refuse(new SameRefusals(), codes)).toBe(9);
	});

	it("name the values where another type is the reason", () => {
		const refused = new SameRefusals();
		const stops = Array.from({ length: 10 }, () => refused.failed({ code: "METADATA_REFUSED", text: "no" }));
		expect(stops.at(-1)?.hint).toContain("Correct the values");
	});

	it("do not stop it when two refusals differed, or a row succeeded", () => {
		const codes = Array.from({ length: 40 }, (_, place) => (place === 8 ? "CODE_101" : "CODE_102"));
		expect(refuse(new SameRefusals(), codes)).toBe(-1);
		const refused = new SameRefusals();
		refused.succeeded();
		expect(refuse(refused, codes.slice(9))).toBe(-1);
	});
});
