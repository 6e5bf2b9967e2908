import { describe, expect, it } from "vitest";
import { type RateSetting, parseRateSetting } from "../../../src/rates.ts";
import { RateControl } from "../../../src/run/rate/rate-control.ts";
import { RunMonitor } from "../../../src/run/rate/run-monitor.ts";
import { FakeClock } from "../fake-clock.ts";
import { SlidingWindow } from "../../../src/run/rate/limiter.ts";

/** A control at ten in the evening, with a clock and a wall clock that go together. */
function controlOf(setting: RateSetting): { control: RateControl; clock: FakeClock; monitor: RunMonitor } {
	const clock = new FakeClock();
	const monitor = new RunMonitor(clock);
	const date = (): Date => new Date(new Date(2026, 10, 22, 22, 0).getTime() + clock.now());
	return { control: new RateControl({ setting, clock, date, monitor }), clock, monitor };
}

const MINUTE = 60_000;

describe("the rate of a run", () => {
	it("follows a timetable, and says when it changed", async () => {
		const { control, clock } = controlOf(parseRateSetting("08:00=20 22:05=50") ?? 0);
		expect(control.rate).toBe(20);
		await clock.pass(4 * MINUTE);
		control.tick();
		expect(control.rate).toBe(20);
		await clock.pass(MINUTE);
		control.tick();
		control.tick();
		expect(control.rate).toBe(50);
		expect(control.adjusted).toEqual([
			{ kind: "rate", from: 20, to: 50, by: "timetable", time: new Date(2026, 10, 22, 22, 5) },
		]);
	});

	it("that runs adjust changes replaces the timetable", async () => {
		const { control, clock } = controlOf(parseRateSetting("08:00=20 22:05=50") ?? 0);
		control.change(30);
		await clock.pass(5 * MINUTE);
		control.tick();
		expect(control.rate).toBe(30);
	});

	it("is no cap of the whole run once it has changed: the summary names the change", async () => {
		const { control, monitor } = controlOf(100);
		const watched = { outage: { ongoing: undefined }, slowness: () => undefined, concurrency: () => 8 };
		monitor.begin({ ...watched, cap: () => control.rate });
		expect(monitor.pace().cap).toBe(100);
		control.change(20);
		expect(monitor.pace().cap).toBeUndefined();
	});
});

describe("--rate auto", () => {
	it("is a rate without a cap, and stays so until a number is chosen", () => {
		const { control } = controlOf("auto");
		expect([control.rate, control.searched, control.adjusted]).toEqual([undefined, 20, []]);
		control.change(220);
		expect([control.rate, control.searched]).toEqual([220, undefined]);
		expect(control.found).toEqual({ rate: 220, because: null, at: null });
	});
});

describe("a pause", () => {
	it("holds requests until it is over, with and without a cap", async () => {
		for (const setting of [1_000, "unlimited"] as const) {
			const { control, clock } = controlOf(setting);
			control.pause(true);
			let sent = 0;
			const requests = [1, 2, 3].map(async () => {
				await control.limiter.take();
				sent += 1;
			});
			await new Promise((resolve) => void setTimeout(resolve, 20));
			expect(sent).toBe(0);
			control.pause(false);
			await clock.until(Promise.all(requests));
			expect(sent).toBe(3);
			control.limiter.close();
		}
	});

	it("ends for a request when the run ends, so that Ctrl-C is not held up", async () => {
		const { control } = controlOf(100);
		control.pause(true);
		const stop = new AbortController();
		const request = control.limiter.take(stop.signal);
		stop.abort(new Error("Ctrl-C"));
		await expect(request).rejects.toThrow("Ctrl-C");
		control.limiter.close();
	});

	it("is shown, counted as the cause of a slow run, and no time of an outage", async () => {
		const { control, clock, monitor } = controlOf(100);
		monitor.begin({ outage: { ongoing: undefined }, slowness: () => undefined, concurrency: () => 8, cap: () => 100 });
		await clock.pass(1_000);
		control.pause(true);
		await clock.pass(20_000);
		expect(monitor.current()).toMatchObject({ state: "paused", cause: "runs adjust", seconds: 20 });
		expect(control.unpaused.now()).toBe(1_000);
		control.pause(false);
		await clock.pass(500);
		expect(control.unpaused.now()).toBe(1_500);
		expect(monitor.pace().slow).toContainEqual({ cause: "paused", seconds: 20 });
		control.limiter.close();
	});
});

describe("a limiter whose rate changes", () => {
	it("lets the requests that wait go soon where the cap is lifted", async () => {
		const { control, clock } = controlOf(0.01);
		await control.limiter.take();
		const waiting = Promise.all([control.limiter.take(), control.limiter.take()]);
		control.change("unlimited");
		await clock.until(waiting);
		expect(clock.now()).toBeLessThan(500);
		control.limiter.close();
	});

	it.each([
		{ before: 3, count: 2, sent: [0, 10, 20], now: 30, delay: 980 },
		{ before: 2, count: 3, sent: [0, 10, 20], now: 30, delay: 0 },
		{ before: 2, count: 2, sent: [5], now: 30, delay: 0 },
		{ before: 4, count: 1, sent: [0, 10, 20], now: 30, delay: 990 },
	])("counts the last sends at the old rate: $sent, $before, then $count", ({ before, count, sent, now, delay }) => {
		const old = new SlidingWindow(before, 1_000);
		for (const time of sent) old.sent(time);
		expect(new SlidingWindow(count, 1_000, old).delay(now)).toBe(delay);
	});
});
