import { expect, it } from "vitest";
import { systemClock } from "../../src/run/clock.ts";

it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])(
	"a wait of %d ms, longer than a timer can hold, does not end at once",
	async (milliseconds) => {
		const leave = new AbortController();
		let ended = false;
		const waiting = systemClock.sleep(milliseconds, leave.signal).then(() => (ended = true));
		await systemClock.sleep(30);
		expect(ended).toBe(false);
		leave.abort();
		await waiting;
		expect(ended).toBe(true);
	},
);
