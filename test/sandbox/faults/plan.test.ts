import { describe, expect, test } from "vitest";
import type { FaultPlan } from "../../../src/sandbox/faults/plan.ts";
import { faultTable, faultKinds } from "../../../src/sandbox/faults/table.ts";
import { expectFired } from "../../support/faults.ts";
import { range } from "../../support/values.ts";
import * as by from "../support.ts";
import { idOf } from "../../support/service.ts";

/** Sends that many updates, and returns the numbers of those that got status 500. */
async function failedUpdates(plan: FaultPlan, updates = 60): Promise<number[]> {
	const sandbox = await by.start({ documents: 70, faults: plan });
	const found: number[] = [];
	for (const number of range(updates, 1)) {
		const { status } = await by.put(sandbox, sandbox.datasetId ?? "", idOf(number), "{}");
		if (status === 500) found.push(number);
	}
	return found;
}

const error = { fault: "status", status: 500 } as const;

describe("the requests that a plan selects", () => {
	test.each([
		[{ nth: [1, 5] }, [1, 5]],
		[{ every: 20 }, [20, 40, 60]],
		[{ every: 20, from: 11 }, [30, 50]],
		[{ from: 3, to: 5 }, [3, 4, 5]],
		[{ from: 3, times: 2 }, [3, 4]],
		[{ document: idOf(7) }, [7]],
		[{ path: "/0+9$" }, [9]],
		[{ method: "get" }, []],
		[{ method: "put", nth: 2 }, [2]],
	])("%j selects the requests %j", async (on, expected) => {
		expect(await failedUpdates({ faults: [{ ...error, on }] })).toEqual(expected);
	});

	test("the same seed gives the same draws, another seed gives others, and a second fault changes none", async () => {
		const by10 = { ...error, on: { probability: 0.2 } };
		const first = await failedUpdates({ seed: 7, faults: [by10] });
		expect(first.length).toBeGreaterThan(3);
		expect(first.length).toBeLessThan(30);
		expect(await failedUpdates({ seed: 7, faults: [by10] })).toEqual(first);
		expect(
			await failedUpdates({ seed: 7, faults: [by10, { fault: "delay", milliseconds: 0, on: { every: 2 } }] }),
		).toEqual(first);
		expect(await failedUpdates({ seed: 8, faults: [by10] })).not.toEqual(first);
	});

	test("where two faults select one request, the first fires, and the second still counts it", async () => {
		const plan = {
			faults: [
				{ ...error, on: { nth: 2 } },
				{ ...error, status: 502, on: { every: 2 } },
			],
		};
		const sandbox = await by.start({ documents: 5, faults: plan });
		const statuses: number[] = [];
		for (const number of [1, 2, 3, 4])
			statuses.push((await by.put(sandbox, sandbox.datasetId ?? "", idOf(number), "{}")).status);
		expect(statuses).toEqual([200, 500, 200, 502]);
		expect(sandbox.control?.plan()).toMatchObject([
			{ fault: "status", fitted: 4, fired: 1, planned: 1 },
			{ fault: "status", fitted: 4, fired: 1, planned: null },
		]);
	});
});

describe("a plan that is not valid starts no sandbox, so that no test passes without its faults", () => {
	test.each<[unknown, string]>([
		[[], "the plan is not an object"],
		[{}, 'the plan has no list "faults"'],
		[{ faults: [], sead: 1 }, 'the plan has an unknown member "sead"; it takes seed, faults'],
		[{ seed: -1, faults: [] }, 'the plan has a "seed" that is not a whole number from 0 to 4294967295'],
		[{ faults: [{}] }, 'fault 1 of the plan has no "fault"'],
		[{ faults: [{ fault: "rest" }] }, "fault 1 of the plan has the unknown name rest"],
		[{ faults: [{ fault: "toString" }] }, "has the unknown name toString"],
		[{ faults: [{ fault: "reset", at: 1 }] }, 'fault 1 of the plan (reset) has an unknown member "at"'],
		[
			{ faults: [{ fault: "reset" }, { fault: "stall", at: -1 }] },
			'fault 2 of the plan (stall) has a "at" that is not',
		],
		[{ faults: [{ fault: "cut", how: "off" }] }, 'has a "how" that is none of fin, rst'],
		[{ faults: [{ fault: "reset", when: "then" }] }, 'has a "when" that is none of before, after'],
		[{ faults: [{ fault: "lie", when: "after" }] }, '(lie) has no variant "after", only "before"'],
		[{ faults: [{ fault: "reset", on: { nth: [] } }] }, '"on" of fault 1 of the plan (reset) has an empty "nth"'],
		[{ faults: [{ fault: "reset", on: { nth: 0 } }] }, 'has a "nth" that is not a whole number'],
		[{ faults: [{ fault: "reset", on: { probability: 2 } }] }, "not a number from 0 to 1"],
		[{ faults: [{ fault: "reset", on: { path: "(" } }] }, "not a regular expression"],
		[{ faults: [{ fault: "reset", on: { from: 3, to: 2 } }] }, 'a "from" after its "to"'],
		[{ faults: [{ fault: "reset", on: { row: 1 } }] }, 'unknown member "row"; it takes method, path, document'],
		[{ faults: [{ fault: "wrong-length", by: 0 }] }, "which is no fault"],
		[{ faults: [{ fault: "status", headers: { a: 1 } }] }, "not text"],
	])("%j", async (plan, message) => {
		await expect(by.start({ faults: plan as FaultPlan })).rejects.toThrow(message);
	});

	test("an invalid plan does not replace the active one", async () => {
		const sandbox = await by.start({ documents: 1, faults: { faults: [error] } });
		expect(() => sandbox.control?.setPlan({ faults: [{ fault: "none" }] })).toThrow("unknown name none");
		expect((await by.put(sandbox, sandbox.datasetId ?? "", idOf(1), "{}")).status).toBe(500);
	});
});

describe("a planned fault that did not fire", () => {
	test.each([
		[{ nth: [1, 9] }, "status (after) was planned to fire 2 times, and fired 1 times; 2 requests fitted it"],
		[{ method: "DELETE" }, "was planned to fire once at least, and fired 0 times; 0 requests fitted it"],
		[{ times: 3 }, "was planned to fire 3 times, and fired 2 times"],
	])("%j fails the test, with the fault's name", async (on, message) => {
		const sandbox = await by.start({ documents: 2, faults: { faults: [{ ...error, on }] } });
		for (const number of [1, 2]) await by.put(sandbox, sandbox.datasetId ?? "", idOf(number), "{}");
		expect(() => expectFired(sandbox)).toThrow(message);
	});
});

test("the table has a line for what each fault does, and a line for its parameters", () => {
	const table = faultTable();
	for (const [name, { summary }] of faultKinds)
		expect(table).toMatch(new RegExp(`^${name} +${summary.slice(0, 5)}`, "m"));
	for (const line of table.split("\n")) expect(line.length).toBeLessThan(160);
});
