import { expect } from "vitest";
import { program } from "../../support/program.ts";
import { at, parseLines, range } from "../../support/values.ts";
import { asksFor, type Planned, planned, serviceOf, stateOf, trial, withoutKeyIn } from "../rig/trial.ts";
import { section } from "../table.ts";
import { failedWith, IN_ORDER, rowByRow } from "./http.ts";
import { idOf } from "../../support/service.ts";

const codes = (list: readonly number[]): Planned[] => list.map((code) => ({ fault: "code", code, when: "before" }));
const raws = (list: readonly string[]): Planned[] => list.map((raw) => ({ fault: "code", raw, when: "before" }));
const bodies = (list: readonly string[]): Planned[] => list.map((text) => ({ fault: "body", text, when: "before" }));

export const envelope = section("all", (test) => {
	test("E1 quick: a refusal under status 200 is a failed row, never an updated one", async (flavour) => {
		const faults = rowByRow([...codes([101, 103, 107, 500_000]), { fault: "code", code: 101, when: "after" }]);
		const failed = failedWith(["CODE_101", "CODE_103", "CODE_107", "CODE_500000", "CODE_101"]);
		const ended = await trial(flavour, { faults, exit: 1, failed, args: IN_ORDER });
		expect(range(5, 2).map((row) => asksFor(ended, row))).toEqual([1, 1, 1, 1, 1]);
	});
	test("E2: a code that means `again` costs no row", async (flavour) => {
		const again = flavour === "documented" ? [408, 425, 500, 502, 503, 504, 429] : [105, 106];
		await trial(flavour, { faults: rowByRow(codes(again), 1), exit: 0 });
	});
	test("E2: a code that refuses the key ends the run, and no row fails for it", async (flavour) => {
		for (const code of [401, 109]) {
			const { summary } = await trial(flavour, { faults: rowByRow(codes([code])), exit: 4 });
			expect(at(summary, "failed")).toBe(0);
			expect(at(summary, "pending")).toBeGreaterThan(0);
		}
	});
	test("E2: a code that refuses the right fails its row; at the first row, or five in a row, it ends the run", async (flavour) => {
		// Late: whichever row is settled first counts as the first.
		const late = codes([403]).map((fault) => ({ ...fault, row: 12 }));
		await trial(flavour, { faults: late, exit: 1, failed: { 12: "FORBIDDEN" }, args: ["--concurrency", "1"] });
		const [first] = codes([403]).map((fault) => ({ ...fault, row: 1 }));
		await trial(flavour, {
			faults: first === undefined ? [] : [first],
			exit: 4,
			failed: { 1: "FORBIDDEN" },
			args: ["--concurrency", "1"],
		});
		const five = rowByRow(codes([403, 403, 403, 403, 403]));
		const { summary } = await trial(flavour, { faults: five, exit: 4, args: ["--concurrency", "1"] });
		expect(summary).toMatchObject({ updated: 1, failed: 5, pending: 14 });
	});
	test("E3 quick: no code, or one that is no number, is no success", async (flavour) => {
		const odd = [...raws(["null", "false", "[]", "{}", "true", "[0]"]), { fault: "no-code", when: "before" as const }];
		await trial(flavour, { faults: rowByRow(odd, 1), exit: 0 });
		const failed = failedWith(odd.map(() => "BAD_ENVELOPE"));
		await trial(flavour, { faults: rowByRow(odd), exit: 1, failed, args: ["--attempts", "2"] });
	});
	test("E4: zero as text is no success; the number zero is one however it is written", async (flavour) => {
		const zeros = ["-0", "0.0", "1e-400", "0e9"].map((raw) => ({ fault: "code", raw }));
		await trial(flavour, { faults: rowByRow(zeros, 1), exit: 0 });
		const texts = raws(['"0"', '""', '"-0"', '"false"']);
		const failed = failedWith(texts.map(() => "BAD_ENVELOPE"));
		await trial(flavour, { faults: rowByRow(texts), exit: 1, failed, args: ["--attempts", "2"] });
	});
	test("E5: code 0 under an error status is no success", async (flavour) => {
		const passing = [500, 503].map((status) => ({ fault: "status-only", status, when: "before" as const }));
		await trial(flavour, { faults: rowByRow(passing, 1), exit: 0 });
		const final = [400, 404, 422].map((status) => ({ fault: "status-only", status, when: "before" as const }));
		await trial(flavour, {
			faults: rowByRow(final),
			exit: 1,
			failed: failedWith(["HTTP_400", "NOT_FOUND", "HTTP_422"]),
		});
	});
	test("E6: a body that is no object is no success", async (flavour) => {
		const odd = bodies(["[]", "null", '"0"', "0", "", "true", "[0]", "{", "\n"]);
		await trial(flavour, { faults: rowByRow(odd, 1), exit: 0 });
		const failed = failedWith(odd.map(() => "BAD_ENVELOPE"));
		await trial(flavour, { faults: rowByRow(odd), exit: 1, failed, args: ["--attempts", "2"] });
	});
	test("E7 quick: an envelope with two codes is no success, although a parser sees the last alone", async (flavour) => {
		const two = [
			{ fault: "two-codes", when: "before" as const },
			{ fault: "two-codes", first: 0, last: 102, when: "before" as const },
		];
		await trial(flavour, { faults: rowByRow(two, 1), exit: 0 });
		const failed = failedWith(["BAD_ENVELOPE", "BAD_ENVELOPE"]);
		await trial(flavour, { faults: rowByRow(two), exit: 1, failed, args: ["--attempts", "2"] });
	});
	test("E8: a message of megabytes, or one that is no text, fills neither screen nor memory", async (flavour) => {
		const huge = [
			{ fault: "message", code: 101, bytes: 900_000 },
			{ fault: "message", code: 101, value: { a: [1] } },
		];
		const failed = failedWith(["CODE_101", "CODE_101"]);
		const { stderr, stdout } = await trial(flavour, { faults: rowByRow(huge), exit: 1, failed });
		expect(stderr.length + stdout.length).toBeLessThan(10_000);
		// A success may say what it likes, up to the size of an answer.
		await trial(flavour, { faults: rowByRow([{ fault: "message" }, { fault: "message", value: [1] }], 1), exit: 0 });
	});
	test("E9 documented quick: a success that names another document is not that of this row", async (flavour) => {
		const other = [
			{ fault: "document-id", how: "other", when: "before" as const },
			{ fault: "document-id", how: "case", when: "before" as const },
		];
		const [first, ...rest] = rowByRow(other, 1);
		await trial(flavour, { faults: first === undefined ? [] : [first], exit: 0 });
		// All ids here are digits and a few letters: of those without letters there is no other case.
		await trial(flavour, { faults: rest.map((fault) => ({ ...fault, row: 10 })), exit: 0 });
	});
	test("E9: a success without data is one", async (flavour) => {
		const missing = [{ fault: "no-data" }];
		await trial(flavour, { faults: rowByRow(missing), exit: 0 });
	});
	test("E10: JSON that is nested a hundred thousand deep ends no run", async (flavour) => {
		const ended = await trial(flavour, { faults: rowByRow([{ fault: "deep" }], 1), exit: 0 });
		expect(ended.updated.size).toBe(20);
	});
	test("E11 quick: a list that repeats, omits or runs in circles is complete, or says that it is not", async (flavour) => {
		const names = ["repeat", "omit", "total", "same-page", "cycle", "empty-page", "huge-page"];
		for (const name of names) {
			const fault = { fault: `list-${name}`, on: { method: "GET" } };
			const { dataset, state, env } = await planned(flavour, [fault]);
			const argv = ["docs", "list", "-d", dataset, "--format", "jsonl", "--rate", "5000", "--state-dir", state];
			const ended = await program(argv, env);
			await withoutKeyIn(ended, state);
			const ids = parseLines(ended.stdout).map((line) => at(line, "document_id"));
			const isComplete = range(60, 1).every((number) => ids.includes(idOf(number)));
			expect({ name, twice: ids.length - new Set(ids).size }).toEqual({ name, twice: 0 });
			expect({ name, exit: ended.exit, isComplete }).toEqual({
				name,
				exit: ended.exit === 0 || ended.exit === 6 ? ended.exit : 1,
				isComplete: ended.exit === 0 ? true : isComplete,
			});
		}
	});
	test("E12 documented quick: a service that says yes and keeps nothing is found out by the first row, and nothing counts as updated", async (flavour) => {
		const { verb } = await serviceOf(flavour);
		const faults = [{ fault: "lie", on: { method: verb } }];
		const state = await stateOf();
		const { stderr, summary } = await trial(flavour, { faults, exit: 6, state });
		expect(summary).toMatchObject({ updated: 0, failed: 0, pending: 20 });
		expect(stderr).toMatch(/ragtag docs list|ragtag doctor/);
	});
	test("E13: values that a service trims or splits by its rules are no failed rows", async (flavour) => {
		const { verb } = await serviceOf(flavour);
		for (const how of ["trim", "split"]) {
			await trial(flavour, { faults: [{ fault: "normalise", how, on: { method: verb } }], exit: 0 });
		}
	});
	test("E14: a merge removes no key that a list did not show while searches failed", async (flavour) => {
		await trial(flavour, { faults: [], exit: 0, args: ["--set", "kept=a"] });
		const on = { method: "GET", path: "documents$", nth: 1 };
		const faults = [{ fault: "searches-fail", milliseconds: 300, on }];
		const { service } = await trial(flavour, { faults, exit: 0, args: ["--mode", "merge"] });
		const written = service.control.ledger().filter(({ type }) => type === "applied");
		expect(written.map((entry) => at(entry, "meta_fields", "kept"))).toEqual(written.map(() => "a"));
		expect(written.length).toBeGreaterThanOrEqual(20);
	});
});
