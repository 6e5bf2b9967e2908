import { afterEach, describe, expect, it, vi } from "vitest";
import { RateLimiter } from "../../../src/run/rate/limiter.ts";
import { systemClock } from "../../../src/run/clock.ts";
import { FakeClock, idle } from "../fake-clock.ts";

/** A limiter without a cap of its own whose permits, shared with other processes, are good until these times. */
function sharing(permits: (number | Promise<number>)[], clock = new FakeClock()): RateLimiter {
	const limiter = new RateLimiter(undefined, clock);
	const take = async (): Promise<number> => {
		const permit = permits.shift();
		if (permit === undefined) throw new Error("no permit is left");
		return permit;
	};
	limiter.share({ take, lead: 0 });
	return limiter;
}

describe("a limiter whose rate changes in the middle of a second", () => {
	it("still counts what was sent before: each change would let another burst through", async () => {
		const clock = new FakeClock();
		const limiter = new RateLimiter(1, clock);
		limiter.setRate(1);
		await limiter.take();
		limiter.setRate(1);
		let isSent = false;
		const second = Promise.resolve(limiter.take()).then(() => (isSent = true));
		await clock.pass(990);
		expect(isSent).toBe(false);
		await clock.pass(20);
		await second;
		limiter.close();
	});
});

describe("a wall clock that is set while a run sends", () => {
	afterEach(() => void vi.restoreAllMocks());

	const [minute, hour] = [60_000, 3_600_000];
	// Milliseconds: a bound for what would stand for a minute or an hour, not a measure.
	it.each([-minute, minute, -hour, hour])(
		"by %i ms holds no request: the run would stand without a word",
		{ timeout: 40_000 },
		async (by) => {
			const limiter = new RateLimiter(20, systemClock);
			let sent = 0;
			const send = (count: number): Promise<unknown> =>
				Promise.all(
					Array.from({ length: count }, async () => {
						await limiter.take();
						sent += 1;
					}),
				);
			await send(3);
			const wall = Date.now;
			vi.spyOn(Date, "now").mockImplementation(() => wall() + by);
			await send(3);
			limiter.close();
			expect(sent).toBe(6);
		},
	);
});

describe("a permit of a shared cap", () => {
	it("that got too old is not used: it would come together with later ones", async () => {
		const clock = new FakeClock();
		await clock.pass(100);
		const permits = [99, 75, 100];
		await sharing(permits, clock).take();
		expect(permits).toEqual([]);
	});

	it("is taken once the request has its turn: those that wait would lose theirs", async () => {
		const clock = new FakeClock();
		const permits = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
		const limiter = sharing(permits, clock);
		limiter.setRate(1);
		await limiter.take();
		const second = limiter.take();
		await clock.pass(900);
		expect(permits).toHaveLength(1);
		await clock.pass(200);
		await second;
		limiter.close();
	});

	it("is given up where the run stops while its request waits for its turn", async () => {
		const permits = [1];
		const limiter = sharing(permits);
		limiter.pause(true);
		const stop = new AbortController();
		const request = limiter.take(stop.signal);
		stop.abort(new Error("stopped"));
		await expect(request).rejects.toThrow("stopped");
		expect(permits).toEqual([1]);
	});

	it.each(["pause", "close"] as const)("holds no request back from a %s that began meanwhile", async (end) => {
		const clock = new FakeClock();
		let gives: (goodUntil: number) => void = () => undefined;
		const permits = [new Promise<number>((resolve) => (gives = resolve)), Number.POSITIVE_INFINITY];
		const limiter = sharing(permits, clock);
		let isSent = false;
		const request = Promise.resolve(limiter.take()).then(() => (isSent = true));
		const ended = request.catch((error: unknown) => String(error));
		await idle();
		if (end === "pause") limiter.pause(true);
		else limiter.close();
		gives(Number.POSITIVE_INFINITY);
		await idle();
		expect(isSent).toBe(false);
		limiter.pause(false);
		expect(await clock.until(ended)).toBe(end === "pause" ? true : "Error: the limiter is closed");
	});
});
