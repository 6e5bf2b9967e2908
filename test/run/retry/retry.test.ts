import { describe, expect, it } from "vitest";
import { LONGEST_READ_BACK_MS, readBack } from "../../../src/run/retry/retry.ts";
import { FakeClock } from "../fake-clock.ts";

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
