import { afterEach, describe, expect, it, vi } from "vitest";
import { type AdjustableLimiter, createLimiter } from "../../../src/run/rate/limiter.ts";
import type { SharedPermit } from "../../../src/run/rate/shared/permits.ts";
import { systemClock } from "../../../src/run/clock.ts";
import { FakeClock, idle } from "../fake-clock.ts";

/** What happened to permits, by their numbers from 1: `used 1`. */
type Log = string[];

function held(log: Log, name: string, isGood = true): SharedPermit {
	return {
		isGood: () => isGood,
		used: () => void log.push(`used ${name}`),
		drop: () => void log.push(`dropped ${name}`),
	};
}

/** A limiter without a cap of its own whose permits, shared with other processes, are these, one after another. */
function sharing(permits: (SharedPermit | Promise<SharedPermit>)[], clock = new FakeClock()): AdjustableLimiter {
	const limiter = createLimiter(undefined, clock);
	const take = async (): Promise<SharedPermit> => {
		const permit = permits.shift();
		if (permit === undefined) throw new Error("no permit is left");
		return permit;
	};
	limiter.share({ take, lead: 0 });
	return limiter;
}

/** Sets a log when the request of a `take` may go out. */
function noted(log: Log, taken: Promise<void> | undefined): Promise<unknown> {
	return Promise.resolve(taken).then(() => log.push("sent"));
}

describe("a limiter whose rate changes in the middle of a second", () => {
	it.each<[string, number, (limiter: AdjustableLimiter) => void]>([
		["the rate", 1, (limiter) => limiter.setRate(1)],
		["a ceiling below the rate", 1_000, (limiter) => limiter.setCeiling(1)],
	])(
		"still counts what was sent before, by %s: each change would let another burst through",
		async (_, rate, change) => {
			const clock = new FakeClock();
			const limiter = createLimiter(rate, clock);
			change(limiter);
			await limiter.take();
			change(limiter);
			const log: Log = [];
			const second = noted(log, limiter.take());
			await clock.pass(990);
			expect(log).toEqual([]);
			await clock.pass(20);
			await second;
			limiter.close();
		},
	);
});

describe("a wall clock that is set while a run sends", () => {
	afterEach(() => void vi.restoreAllMocks());

	const [minute, hour] = [60_000, 3_600_000];
	// Milliseconds: a bound for what would stand for a minute or an hour, not a measure.
	it.each([-minute, minute, -hour, hour])(
		"by %i ms holds no request: the run would stand without a word",
		{ timeout: 40_000 },
		async (by) => {
			const limiter = createLimiter(20, systemClock);
			const send = (count: number): Promise<unknown> =>
				Promise.all(Array.from({ length: count }, async () => await limiter.take()));
			await send(3);
			const wall = Date.now;
			vi.spyOn(Date, "now").mockImplementation(() => wall() + by);
			await send(3);
			limiter.close();
			expect(Date.now() - wall()).toBe(by);
		},
	);
});

describe("a permit of a shared cap", () => {
	it("is used up by its request: other machines would send in its place", async () => {
		const log: Log = [];
		const limiter = sharing([held(log, "1"), held(log, "2")]);
		await limiter.take();
		await limiter.take();
		expect(log).toEqual(["used 1", "used 2"]);
	});

	it("that got too old is given back for another one", async () => {
		const log: Log = [];
		await sharing([held(log, "1", false), held(log, "2", false), held(log, "3")]).take();
		expect(log).toEqual(["dropped 1", "dropped 2", "used 3"]);
	});

	it("is given back where the run stops while its request waits for its turn", async () => {
		const log: Log = [];
		const limiter = sharing([held(log, "1")]);
		limiter.pause();
		const stop = new AbortController();
		const request = limiter.take(stop.signal);
		await idle();
		stop.abort(new Error("stopped"));
		await expect(request).rejects.toThrow("stopped");
		expect(log).toEqual(["dropped 1"]);
	});
});

describe("a pause that begins while a request waits for another permit in place of an old one", () => {
	it("holds the request: it would go out in the pause", async () => {
		const clock = new FakeClock();
		const log: Log = [];
		let gives: (permit: SharedPermit) => void = () => undefined;
		const given = new Promise<SharedPermit>((resolve) => (gives = resolve));
		const permits = [held(log, "1", false), given];
		const limiter = sharing(permits, clock);
		const request = noted(log, limiter.take());
		await expect.poll(() => permits.length).toBe(0);
		limiter.pause();
		gives(held(log, "2"));
		await idle();
		expect(log).toEqual(["dropped 1"]);
		limiter.resume();
		await clock.until(request);
		expect(log).toEqual(["dropped 1", "used 2", "sent"]);
	});
});
