import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/run/clock.ts";
import type { Clock } from "../../../src/run/types.ts";
import { RateLimiter, SlidingWindow } from "../../../src/run/rate/limiter.ts";
import { unlimited } from "../rates.ts";
import { FakeClock } from "../fake-clock.ts";

describe("the sliding window at real send times", () => {
	it.each([
		{ sent: [], now: 5, delay: 0 },
		{ sent: [0], now: 5, delay: 0 },
		{ sent: [0, 5], now: 5, delay: 995 },
		{ sent: [0, 5], now: 999, delay: 1 },
		{ sent: [0, 5], now: 1_000, delay: 0 },
		{ sent: [0, 5, 1_000], now: 1_000, delay: 5 },
		{ sent: [0, 5, 1_000, 1_400], now: 1_500, delay: 500 },
	])("delays a request after sends at $sent by $delay ms at $now", ({ sent, now, delay }) => {
		const gate = new SlidingWindow(2, 1_000);
		for (const time of sent) gate.sent(time);
		expect(gate.delay(now)).toBe(delay);
	});
});

describe("a request that comes alone", () => {
	it.each([
		{ rate: 100, ready: 3 },
		{ rate: 33, ready: 0 },
	])("waits for no timer: at $rate a second, $ready permits are ready", async ({ rate, ready }) => {
		const limiter = new RateLimiter(rate, new FakeClock());
		// Bottleneck's own timers make them ready.
		await new Promise((resolve) => setTimeout(resolve, 200));
		let taken = 0;
		const requests = Array.from({ length: 5 }, async () => {
			await limiter.take();
			taken += 1;
		});
		// No timer fires within one turn of the event loop.
		for (let turn = 0; turn < 100; turn++) await Promise.resolve();
		expect(taken).toBe(ready);
		limiter.close();
		await Promise.allSettled(requests);
	});
});

describe("a cap", () => {
	afterEach(() => void vi.restoreAllMocks());

	// By a clock that runs at half speed the timers come twice too often.
	const slow: Clock = {
		...systemClock,
		now: () => systemClock.now() / 2,
		sleep: (milliseconds, signal) => systemClock.sleep(milliseconds * 2, signal),
	};

	it.each([
		{ rate: 50, timers: "exact", clock: systemClock },
		{ rate: 50, timers: "too fast", clock: slow },
		{ rate: 20.5, timers: "too fast", clock: slow },
		{ rate: 101, timers: "too fast", clock: slow },
	])(
		"of $rate a second holds in every sliding second, timers $timers",
		async ({ rate, clock }) => {
			const booked = vi.spyOn(SlidingWindow.prototype, "sent");
			const limiter = new RateLimiter(rate, clock);
			const start = performance.now();
			const taker = async (): Promise<void> => {
				while (performance.now() < start + 2_500) await limiter.take();
			};
			setTimeout(() => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300), 700);
			await Promise.all(Array.from({ length: 6 }, taker));
			limiter.close();
			const times = booked.mock.calls.map(([time]) => time);
			const count = Math.ceil(rate);
			expect(times.length).toBeGreaterThan(count);
			// The send that is `count` places later comes no sooner than the time in which `count` are allowed. Above 100 a second it
			// comes 5 milliseconds later: else two sends that meet on their way are too many by the server's clock.
			const onTheWay = rate > 100 ? 5 : 0;
			const gaps = times.slice(count).map((time, place) => time - (times[place] ?? Number.NaN));
			expect(Math.min(...gaps)).toBeGreaterThanOrEqual((count * 1000) / rate + onTheWay - 1e-6);
		},
		20_000,
	);

	it("is not followed by a burst after a minute of sleep (SIGSTOP, a closed lid)", async () => {
		const clock = new FakeClock();
		const limiter = new RateLimiter(50, clock);
		const times: number[] = [];
		const taker = async (): Promise<void> => {
			while (times.length < 150) {
				await limiter.take();
				times.push(clock.now());
			}
		};
		const takers = Promise.allSettled(Array.from({ length: 40 }, taker));
		// Bottleneck's timers know nothing of this clock: they give out permits all the while, as after a sleep.
		const tick = async (milliseconds: number): Promise<void> => {
			await new Promise((resolve) => setTimeout(resolve, 2));
			await clock.pass(milliseconds);
		};
		for (let count = 0; count < 100; count += 1) await tick(1);
		await tick(60_000);
		const woken = clock.now();
		while (times.length < 150) await tick(10);
		limiter.close();
		await clock.pass(10_000);
		await takers;
		const after = times.filter((time) => time >= woken);
		expect(after.length).toBeGreaterThan(60);
		const gaps = after.slice(50).map((time, place) => time - (after[place] ?? Number.NaN));
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
	});

	it("releases the waiting requests of a stopped run and gives others their place", async () => {
		const limiter = new RateLimiter(5, systemClock);
		await limiter.take();
		const stop = new AbortController();
		const waiting = [1, 2, 3].map(async () => limiter.take(stop.signal));
		const arrived: string[] = [];
		const takeFrom = async (from: RateLimiter, name: string): Promise<void> => {
			await from.take();
			arrived.push(name);
		};
		const other = takeFrom(limiter, "other");
		const reason = new Error("stopped");
		stop.abort(reason);
		expect(await Promise.allSettled(waiting)).toEqual(waiting.map(() => ({ status: "rejected", reason })));
		await expect(limiter.take(stop.signal)).rejects.toBe(reason);
		// Had they kept their places, he would come after three more of them.
		const twin = new RateLimiter(5, systemClock);
		await Promise.all([other, ...[1, 2, 3].map(() => takeFrom(twin, "twin"))]);
		expect(arrived.slice(0, 2)).toEqual(["twin", "other"]);
		limiter.close();
		twin.close();
	});

	it.each([101, 150, 1_000])("of %d a second passes requests that come one by one", async (rate) => {
		const limiter = new RateLimiter(rate, systemClock);
		for (let turn = 0; turn < 6; turn++) await expect(limiter.take()).resolves.toBeUndefined();
		limiter.close();
	});

	it("refuses waiting and new requests once it is closed, so that nothing hangs", async () => {
		const limiter = new RateLimiter(0.01, systemClock);
		await limiter.take();
		const waiting = limiter.take();
		limiter.close();
		limiter.close();
		await expect(waiting).rejects.toThrow("closed");
		await expect(limiter.take()).rejects.toThrow("closed");
	});
});

describe("no cap", () => {
	it("grants 10,000 permits without a timer", async () => {
		let passed = false;
		const immediate = setImmediate(() => (passed = true));
		for (let place = 0; place < 10_000; place += 1) await unlimited.take();
		expect(passed).toBe(false);
		clearImmediate(immediate);
	});

	it("stops with the run too", async () => {
		await expect(unlimited.take(AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
	});
});
