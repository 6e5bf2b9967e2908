import { describe, expect, it } from "vitest";
import { noOutcomes } from "../../../src/outcomes.ts";
import { errorLimit, type MaxErrors, RepeatedFailures } from "../../../src/run/stop/limits.ts";
import type { Totals } from "../../../src/run/types.ts";
import { Exit } from "../../../src/errors.ts";
import { failure } from "../harness.ts";

const times = (count: number, code: string): string[] => Array.from({ length: count }, () => code);

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
	const stopOf = (codes: readonly string[], repeated = new RepeatedFailures()): [number, string | undefined] => {
		for (const [place, code] of codes.entries()) {
			const stop = repeated.failed(failure("rejected", { code }));
			if (stop !== undefined) return [place, stop.hint];
		}
		return [-1, undefined];
	};

	it("stop the run at the tenth", () => {
		expect(stopOf(times(12, "CODE_102"))[0]).toBe(9);
	});

	it("go on with an undo whose documents keep keys, but not with a run that was to remove them", () => {
		const undo = new RepeatedFailures((code) => code !== "KEYS_KEPT");
		expect(stopOf(times(12, "KEYS_KEPT"), undo)[0]).toBe(-1);
		expect(stopOf(times(12, "KEYS_KEPT"))[0]).toBe(9);
	});

	it("name the values where another type is the reason", () => {
		expect(stopOf(times(10, "METADATA_REFUSED"))).toEqual([9, expect.stringContaining("Correct the values")]);
	});

	it("do not stop it when two refusals differed, or a row succeeded", () => {
		const codes = Array.from({ length: 40 }, (_, place) => (place === 8 ? "CODE_101" : "CODE_102"));
		expect(stopOf(codes)[0]).toBe(-1);
		const repeated = new RepeatedFailures();
		repeated.succeeded();
		expect(stopOf(codes.slice(9), repeated)[0]).toBe(-1);
	});
});

/** Codes of failed rows, "ok" for a success; the place of the row that ended the run (1 is the first) and its exit. */
function endOf(rows: readonly string[]): readonly [number, number] | undefined {
	const repeated = new RepeatedFailures(() => false);
	for (const [place, code] of rows.entries()) {
		if (code === "ok") {
			repeated.succeeded();
			continue;
		}
		const error = failure("rejected", { code });
		const stop = repeated.attemptFailed(error) ?? repeated.failed(error);
		if (stop !== undefined) return [place + 1, stop.exit];
	}
	return undefined;
}

describe("answers that concern the whole run when they are repeated", () => {
	it.each<[string, string[], readonly [number, number] | undefined]>([
		["a key that may not update: the first row tells", ["FORBIDDEN", "ok"], [1, Exit.untrusted]],
		["a right that was taken away in the middle", ["ok", ...times(9, "FORBIDDEN")], [6, Exit.untrusted]],
		["a firewall that refuses from the middle on", ["ok", ...times(9, "PROXY_REFUSED")], [6, Exit.untrusted]],
		[
			"rows of a dataset of another client, here and there",
			["ok", ...times(4, "FORBIDDEN"), "ok", ...times(4, "FORBIDDEN")],
			undefined,
		],
		["the same between other failures", ["CODE_102", ...times(4, "FORBIDDEN"), "CODE_102", "FORBIDDEN"], undefined],
		["answers about other documents", ["ok", ...times(3, "ECHO_MISMATCH")], [4, Exit.temporary]],
		["two of them", ["ECHO_MISMATCH", "ECHO_MISMATCH", "ok", "ECHO_MISMATCH", "CODE_1", "ECHO_MISMATCH"], undefined],
		["rows that were lost, one after another", ["ok", "NOT_ARRIVED", "NOT_REMOVED", "NOT_STORED"], [4, Exit.temporary]],
		[
			"a lost row here and there",
			["NOT_ARRIVED", "NOT_ARRIVED", "ok", "NOT_ARRIVED", "CODE_1", "NOT_ARRIVED"],
			undefined,
		],
		["refusals of rows are left to --max-errors", times(20, "CODE_102"), undefined],
	])("%s", (_, rows, end) => {
		expect(endOf(rows)).toEqual(end);
	});

	it("a team member whose update is refused sees the service's words", () => {
		const error = failure("rejected", { code: "FORBIDDEN" });
		const stop = new RepeatedFailures().failed(error);
		expect(stop?.text).toBe("the first row was refused for lack of permission: it was rejected");
		// RAGFlow says the same of a dataset that is not there.
		expect(stop?.hint).toContain("ragtag datasets list shows the datasets of this key");
	});
});
