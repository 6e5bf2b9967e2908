import { describe, expect, it } from "vitest";
import { RestError } from "../../../src/rest/errors.ts";
import type { Decision } from "../../../src/run/retry/policy.ts";
import { LONGEST_READ_BACK_MS, readBack, retry } from "../../../src/run/retry/retry.ts";
import { FakeClock } from "../fake-clock.ts";

const failure = new RestError("no", { kind: "ambiguous", code: "HTTP_500" });

describe("retry", () => {
	const again = (more: Partial<Decision> = {}): Decision =>
		({ action: "retry", wait: 1_000, everyone: false, counts: "attempt", ...more }) as Decision;

	it("counts only attempts that the decision counts, and pauses all requests only if the service asked for it", async () => {
		const clock = new FakeClock();
		const decisions = [
			again({ counts: "nothing", everyone: true, wait: 700 }),
			again({ counts: "attempt" }),
			{ action: "fail" },
		];
		const pauses: number[] = [];
		const result = retry<unknown>(
			() => Promise.reject(failure),
			{
				decide: (_, { attempt }) => decisions[attempt - 1] as Decision,
				pause: (wait) => void pauses.push(wait),
				giveUp: (_, decision, attempts) => ({ decision, attempts: { ...attempts } }),
			},
			{ clock },
		);
		const attempts = { attempt: 3, counted: 1, notTheApi: 0, refused: 0 };
		expect(await clock.until(result)).toEqual({ decision: { action: "fail" }, attempts });
		expect(pauses).toEqual([700]);
	});

	it("throws errors that the policy does not judge, and the reason of its signal", async () => {
		const clock = new FakeClock();
		const fault = new TypeError("a fault");
		const options = { decide: () => again(), pause: () => undefined, giveUp: () => undefined };
		await expect(retry(() => Promise.reject(fault), options, { clock })).rejects.toBe(fault);
		const user = new AbortController();
		const stopped = retry(() => Promise.reject(failure), options, { clock, signal: user.signal });
		user.abort(fault);
		await expect(clock.until(stopped)).rejects.toBe(fault);
	});
});

describe("readBack", () => {
	it("reads after each delay until something is seen", async () => {
		const clock = new FakeClock();
		const reads: number[] = [];
		const isShown = async (): Promise<boolean> => reads.push(clock.now()) === 3;
		expect(await clock.until(readBack(isShown, { clock }))).toBe(true);
		expect(reads).toEqual([0, 250, 1_250]);
	});

	it("ends after the last delay if nothing is seen", async () => {
		const clock = new FakeClock();
		expect(await clock.until(readBack(async () => false, { clock }))).toBe(false);
		expect(clock.now()).toBe(LONGEST_READ_BACK_MS);
	});
});
