import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareHeader, type JournalRecord } from "../../../src/run/journal/records.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { end, header, identity, outcome, row, ROWS, sent, STATUSES, stored } from "./support.ts";

function reduced(records: readonly JournalRecord[]): JournalState {
	const state = new JournalState();
	for (const record of records) expect(state.apply(record)).toBeUndefined();
	return state;
}

const REOPEN: JournalRecord = { kind: "reopen", time: "t" };

describe("the state that the records of a journal add up to", () => {
	it("counts every row, whatever its outcome", () => {
		const rows = fc.array(fc.record({ status: fc.constantFrom(...STATUSES), attempts: fc.nat(9) }), { maxLength: 200 });
		fc.assert(
			fc.property(rows, (settled) => {
				const state = reduced([header(), ...settled.flatMap(({ status, attempts }, at) => row(at, status, attempts))]);
				const totals = state.totals();
				expect(identity(state)).toBe(true);
				expect(totals.attempts).toBe(settled.reduce((sum, { attempts }) => sum + attempts, 0));
				for (const status of STATUSES)
					expect(totals[status]).toBe(settled.filter((row) => row.status === status).length);
				for (const [row, { status }] of settled.entries()) expect(state.statusOf(row)).toBe(status);
				expect(state.statusOf(settled.length)).toBeUndefined();
			}),
		);
	});

	it.each([0, 65_535, 65_536, 1_000_000])("counts row %d once, however far into the manifest it is", (at) => {
		const manifest = { ...header().manifest, rows: 2_000_000 };
		const state = reduced([header({ manifest }), ...row(at)]);
		expect(state.apply(outcome(at, "failed"))).toBe(`a second outcome of the row of line ${at + 2}`);
		expect(state.totals()).toMatchObject({ updated: 1, failed: 0, attempts: 1 });
	});

	it("continues its counts in a later execution, so that a resumed run's summary covers the whole run", () => {
		const state = reduced([header(), ...row(1)]);
		expect(state.apply(end(state, 130))).toBeUndefined();
		expect(state.end?.exitCode).toBe(130);
		expect(state.apply(header({ tool: "0.2.0", time: "later" }))).toBeUndefined();
		expect(state.end).toBeUndefined();
		expect(state.apply(outcome(2, "unchanged", 3))).toBeUndefined();
		expect(state.headers.map(({ tool }) => tool)).toEqual(["0.1.0", "0.2.0"]);
		expect(state.totals()).toMatchObject({ updated: 1, unchanged: 1, pending: ROWS - 7, attempts: 4 });
	});

	it("reopens failed rows alone, so that a retry never writes again what has arrived", () => {
		const state = reduced([header(), ...row(1), outcome(2, "failed"), outcome(3, "failed", 2, "NOT_FOUND")]);
		expect(state.codeOf(3)).toBe("NOT_FOUND");
		expect(state.apply({ ...REOPEN, codes: ["NOT_FOUND", "toString"] })).toBeUndefined();
		expect(state.totals()).toMatchObject({ updated: 1, failed: 1, pending: ROWS - 7 });
		expect(state.statusOf(3)).toBeUndefined();
		expect(state.apply(outcome(2))).toContain("second outcome");
		expect(state.apply(outcome(3))).toBeUndefined();
		expect(state.apply(REOPEN)).toBeUndefined();
		expect(state.totals()).toMatchObject({ updated: 1, unchanged: 1, failed: 0, attempts: 5 });
		expect(state.statusOf(1)).toBe("updated");
		expect(identity(state)).toBe(true);
	});

	it("has the code of each failed row, even for a service with a thousand codes", () => {
		const codes = Array.from({ length: 600 }, (_, row) => `CODE_${row}`);
		const state = reduced([header(), ...codes.map((code, row) => outcome(row, "failed", 1, code))]);
		expect(codes.map((_, row) => state.codeOf(row))).toEqual(codes);
		expect(state.totals().failed).toBe(600);
		expect(state.apply({ ...REOPEN, codes: ["CODE_3", "CODE_599"] })).toBeUndefined();
		expect(state.totals().failed).toBe(598);
		expect([3, 4, 598, 599].map((row) => state.statusOf(row))).toEqual([undefined, "failed", "failed", undefined]);
	});

	it.each<[string, readonly JournalRecord[], JournalRecord, string]>([
		["an outcome before a header", [], outcome(1), "before the first header"],
		["the header of another run", [header()], header({ run: "run-2" }), "another run, run-2"],
		["another manifest", [header()], header({ manifest: { ...header().manifest, bytes: 1 } }), "manifest"],
		["other options", [header()], header({ options: "x" }), "options"],
		["a row that the manifest has not", [header()], outcome(ROWS), `row ${ROWS} of a manifest of ${ROWS} rows`],
		["an outcome after the end", [header(), { ...end(reduced([header()])) }], outcome(1), "after the end"],
		["rows opened after the end", [header(), { ...end(reduced([header()])) }], REOPEN, "after the end"],
		["a second end", [header(), end(reduced([header()]))], end(reduced([header()])), "second end"],
		["an end that counts more", [header()], end(reduced([header(), outcome(1)])), "counts 1 as unchanged"],
		["an end that counts fewer", [header(), outcome(1)], end(reduced([header()])), "give 1"],
		["a write without a record that it was sent", [header()], outcome(1, "updated"), "no record says that it was sent"],
		["a stored file that was never sent", [header()], stored(2, "new", "n"), "never sent"],
		["a write of a row that the manifest has not", [header()], sent(ROWS), `row ${ROWS}`],
		["a newer header", [header()], { kind: "other format", version: 3 } as never, "format 3"],
	])("refuses %s, or a summary would be wrong", (_, before, record, text) => {
		const state = reduced(before);
		const totals = state.totals();
		expect(state.apply(record)).toContain(text);
		expect(state.totals()).toEqual(totals);
	});

	it("refuses more outcomes than valid rows, or pending would be negative", () => {
		const manifest = { ...header().manifest, rows: 6 };
		const state = reduced([header({ manifest }), outcome(0)]);
		expect(state.apply(outcome(1))).toContain("more outcomes");
		expect(identity(state)).toBe(true);
	});

	it("accepts an end from before a repair, which counts the lost rows too", () => {
		const state = reduced([header(), { kind: "lost", records: 1, time: "t" }]);
		expect(state.apply(end(reduced([header(), outcome(1)])))).toBeUndefined();
		expect(state.lost).toBe(1);
		expect(state.totals().unchanged).toBe(0);
	});
});

it("the rows that were sent are exactly those that may have arrived, so that a resume knows which were not sent", () => {
	const state = reduced([header(), sent(4), sent(2), sent(4), stored(2, "new", "n"), sent(2)]);
	expect([2, 3, 4].map((at) => state.wasSent(at))).toEqual([true, false, true]);
	expect([state.countInDoubt(), state.countWithoutBeforeImage()]).toEqual([2, 2]);
	for (const record of [outcome(2, "failed"), outcome(4, "updated")]) expect(state.apply(record)).toBeUndefined();
	expect([state.countInDoubt(), state.countStoredButFailed(), state.wrote]).toEqual([0, 1, true]);
});

it("a row whose first write had a before-image can be undone, and so can one that was not applied", () => {
	const before = new Map();
	const state = reduced([
		header(),
		sent(1, { before }),
		sent(1),
		sent(2),
		sent(2, { before }),
		sent(3),
		sent(4, { write: "remove" }),
	]);
	expect(state.countWithoutBeforeImage()).toBe(2);
	expect(state.apply(Object.assign(outcome(3, "failed"), { isUntouched: true }))).toBeUndefined();
	expect([state.isUntouched(3), state.countWithoutBeforeImage()]).toEqual([true, 1]);
	expect(state.apply(REOPEN)).toBeUndefined();
	expect([state.isUntouched(3), state.countWithoutBeforeImage()]).toEqual([false, 2]);
});

describe("the comparison of a recorded run with the wanted one", () => {
	const { manifest } = header();
	it.each([
		["the command", header({ command: "docs rm" }), "docs tag, not of docs rm"],
		["the manifest's content", header({ manifest: { ...manifest, sha256: "ef".repeat(32) } }), "abababababab"],
		["the manifest's length", header({ manifest: { ...manifest, bytes: 4_712 } }), "4712 bytes"],
		["the target", header({ target: { baseUrl: "http://127.0.0.1" } }), "not to http://127.0.0.1"],
		["the options", header({ options: "other" }), "options"],
		["what the check says", header({ manifest: { ...manifest, invalid: 4 } }), "4 invalid"],
	])("names %s if it differs, or rows would go to the wrong place", (_, wanted, text) => {
		expect(compareHeader(header(), wanted)).toContain(text);
	});

	it("ignores a new time, version or path, or no run could be resumed", () => {
		const moved = header({ tool: "9", time: "later", manifest: { ...manifest, path: null, name: "n.csv" } });
		expect(compareHeader(header(), moved)).toBeUndefined();
	});
});
