import { describe, expect, it } from "vitest";
import { parseRateSetting, type RateSetting } from "../../../src/rates.ts";
import { Cooldown } from "../../../src/run/rate/cooldown.ts";
import { SlidingWindow } from "../../../src/run/rate/sliding-window.ts";
import { RateControl } from "../../../src/run/rate/rate-control.ts";
import { RunMonitor } from "../../../src/run/rate/run-monitor.ts";
import { FakeClock } from "../fake-clock.ts";

/** A control at ten in the evening, with a clock and a wall clock that go together. */
function controlOf(setting: RateSetting): { control: RateControl; clock: FakeClock; monitor: RunMonitor } {
	const clock = new FakeClock();
	const monitor = new RunMonitor(clock, new Cooldown(clock));
	const date = (): Date => new Date(new Date(2026, 10, 22, 22, 0).getTime() + clock.now());
	return { control: new RateControl({ setting, clock, date, monitor }), clock, monitor };
}

const MINUTE = 60_000;

describe("the rate of a run", () => {
	it("follows a timetable, and says when it changed", async () => {
		const { control, clock } = controlOf(parseRateSetting("08:00=20 22:05=50") ?? 0);
		expect(control.now).toBe(20);
		await clock.pass(4 * MINUTE);
		control.tick();
		expect(control.now).toBe(20);
		await clock.pass(MINUTE);
		control.tick();
		control.tick();
		expect(control.now).toBe(50);
		expect(control.adjusted).toEqual([
			{ kind: "rate", from: 20, to: 50, by: "timetable", time: new Date(2026, 10, 22, 22, 5) },
		]);
	});

	it("that runs adjust changes replaces the timetable", async () => {
		const { control, clock } = controlOf(parseRateSetting("08:00=20 22:05=50") ?? 0);
		control.change(30, "runs adjust");
		await clock.pass(5 * MINUTE);
		control.tick();
		expect(control.now).toBe(30);
	});

	it("is known as a mean, so that the summary compares a run with what it was allowed", async () => {
		const { control, clock } = controlOf(100);
		await clock.pass(1_000);
		const start = clock.now();
		await clock.pass(3_000);
		control.change(20, "runs adjust");
		await clock.pass(1_000);
		expect(control.meanSince(start)).toBe(80);
		control.change("unlimited", "runs adjust");
		await clock.pass(1_000);
		expect(control.meanSince(start)).toBeUndefined();
	});
});

describe("the requests in flight that auto may have", () => {
	const options = (setting: RateSetting, isAsked: boolean) => {
		const clock = new FakeClock();
		const monitor = new RunMonitor(clock, new Cooldown(clock));
		return { setting, clock, date: () => new Date(2026, 10, 22), monitor, isAsked, mostAsked: 2_000 };
	};

	it.each<[RateSetting, boolean, number]>([
		[100, false, 64],
		[5_000, true, 2_000],
		["unlimited", true, 64],
		[[{ minute: 0, rate: 5_000 }], true, 2_000],
	])("are more than 64 only for a rate that the user asked for: %j %j", (setting, isAsked, most) => {
		expect(new RateControl(options(setting, isAsked)).mostInFlight).toBe(most);
	});

	it("follow what the user asks for while the run goes on", () => {
		const control = new RateControl(options(100, false));
		control.change(5_000, "runs adjust");
		expect(control.mostInFlight).toBe(2_000);
		control.change("unlimited", "runs adjust");
		expect(control.mostInFlight).toBe(64);
	});
});

describe("a rate that is looked for", () => {
	/** Answers in the time of the clock, as many as the rate allows. */
	async function answers(control: RateControl, clock: FakeClock, seconds: number): Promise<void> {
		for (const until = clock.now() + seconds * 1_000; clock.now() < until;) {
			await clock.pass(1_000 / (control.rate ?? 1));
			control.answered({ kind: 1, sent: clock.now() - 5, came: clock.now() });
		}
	}

	it("rises while requests are answered, and everything that depends on it learns that", async () => {
		const { control, clock } = controlOf("auto");
		let changes = 0;
		control.forRows.onRateChange(() => (changes += 1));
		expect(control.rate).toBe(10);
		await answers(control, clock, 3.5);
		expect(control.rate).toBe(80);
		expect(changes).toBe(3);
		expect(control.searched).toBe(80);
		expect(control.mostInFlight).toBe(64);
		// It is no change by the user.
		expect(control.adjusted).toEqual([]);
		expect(control.found).toEqual({ rate: 80, because: null, at: null });
	});

	it("begins at the rate that held before, and ends with a number", async () => {
		const { control, clock } = controlOf(100);
		control.change("auto", "runs adjust");
		expect(control.rate).toBe(100);
		await answers(control, clock, 1.5);
		expect(control.rate).toBe(200);
		control.change(220, "runs adjust");
		await answers(control, clock, 3);
		expect(control.rate).toBe(220);
		expect(control.searched).toBeUndefined();
		expect(control.adjusted.map((change) => change.kind === "rate" && [change.from, change.to])).toEqual([
			[100, "auto"],
			["auto", 220],
		]);
	});

	it("is looked for at its times of a timetable, and goes on where it was", async () => {
		const { control, clock } = controlOf(parseRateSetting("08:00=20 21:00=auto 22:05=50 22:10=auto") ?? 0);
		await answers(control, clock, 2.5);
		expect(control.rate).toBe(40);
		await clock.pass(5 * MINUTE);
		control.tick();
		expect(control.rate).toBe(50);
		await clock.pass(5 * MINUTE);
		control.tick();
		expect(control.rate).toBe(40);
	});
});

describe("a pause", () => {
	it("holds requests until it is over, with and without a cap", async () => {
		for (const setting of [1_000, "unlimited"] as const) {
			const { control } = controlOf(setting);
			control.pause("runs adjust");
			let sent = 0;
			const requests = [1, 2, 3].map(async () => {
				await control.limiter.take();
				sent += 1;
			});
			await new Promise((resolve) => void setTimeout(resolve, 20));
			expect(sent).toBe(0);
			control.continue("runs adjust");
			await Promise.all(requests);
			expect(sent).toBe(3);
			control.limiter.close();
		}
	});

	it("ends for a request when the run ends, so that Ctrl-C is not held up", async () => {
		const { control } = controlOf(100);
		control.pause("runs adjust");
		const stop = new AbortController();
		const request = control.limiter.take(stop.signal);
		stop.abort(new Error("Ctrl-C"));
		await expect(request).rejects.toThrow("Ctrl-C");
		control.limiter.close();
	});

	it("is shown, counted as the cause of a slow run, and no time of an outage", async () => {
		const { control, clock, monitor } = controlOf(100);
		monitor.begin({ outage: { ongoing: undefined }, lowered: () => undefined, concurrency: () => 8 });
		await clock.pass(1_000);
		control.pause("runs adjust");
		await clock.pass(20_000);
		expect(monitor.current()).toEqual({ state: "paused", cause: "runs adjust", seconds: 20 });
		expect(control.unpaused.now()).toBe(1_000);
		control.continue("runs adjust");
		await clock.pass(500);
		expect(control.unpaused.now()).toBe(1_500);
		expect(monitor.pace().slow).toEqual([{ cause: "paused", seconds: 20 }]);
		control.limiter.close();
	});
});

describe("a limiter whose rate changes", () => {
	it("lets the requests that wait go at once where the cap is lifted", async () => {
		const { control } = controlOf(0.01);
		await control.limiter.take();
		const waiting = Promise.all([control.limiter.take(), control.limiter.take()]);
		control.change("unlimited", "runs adjust");
		expect(await waiting).toHaveLength(2);
		control.limiter.close();
	});

	it.each([
		{ before: 3, count: 2, sent: [0, 10, 20], now: 30, delay: 980 },
		{ before: 2, count: 3, sent: [0, 10, 20], now: 30, delay: 0 },
		{ before: 2, count: 2, sent: [5], now: 30, delay: 0 },
		{ before: 4, count: 1, sent: [0, 10, 20], now: 30, delay: 990 },
	])(
		"counts the last sends at the rate before: $sent with $before, then $count",
		({ before, count, sent, now, delay }) => {
			const old = new SlidingWindow(before, 1_000);
			for (const time of sent) old.sent(time);
			expect(new SlidingWindow(count, 1_000, old).delay(now)).toBe(delay);
		},
	);
});
