import { describe, expect, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { FakeClock } from "../fake-clock.ts";
import { expectAccounted, failure, start, updating } from "../harness.ts";

describe("a service that throttles", () => {
	it("gets fewer and fewer requests until it accepts them, and more again afterwards", async () => {
		const clock = new FakeClock();
		const starts: number[] = [];
		let busy = true;
		const operation = updating(async () => {
			starts.push(clock.now());
			await clock.sleep(10);
			if (busy) throw failure("throttled", { retryAfter: 0, status: 429 });
		});
		const run = start(operation, { rows: 100_000, clock, rate: 100, concurrency: 16 });
		const inSecond = async (): Promise<number> => {
			const before = starts.length;
			await clock.pass(1_000);
			return starts.length - before;
		};
		const falling = [await inSecond(), await inSecond(), await inSecond(), await inSecond()];
		expect(falling[0]).toBeLessThan(60);
		expect(falling.at(-1)).toBeLessThan(11);
		for (let second = 0; second < 20; second += 1) await inSecond();
		expect(await inSecond()).toBeLessThan(5);
		busy = false;
		await clock.pass(15_000);
		expect(await inSecond()).toBeGreaterThan(20);
		// Whole again, what is left is as fast as 16 in flight can be: the cap itself is the limiter's.
		await clock.pass(20_000);
		expect(await inSecond()).toBeGreaterThan(1_000);
		run.user.abort();
		await clock.until(run.done);
		expect(run.journal.totals()).toMatchObject({ failed: 0 });
		expectAccounted(run, 100_000);
	});

	it("with a Retry-After gets no request within it and few right after it, and no row fails", async () => {
		const clock = new FakeClock();
		const starts: number[] = [];
		const told: number[] = [];
		const operation = updating(async () => {
			starts.push(clock.now());
			await clock.sleep(10);
			if (starts.length % 500 !== 0) return;
			told.push(clock.now());
			throw failure("throttled", { retryAfter: 3_000, status: 429 });
		});
		const run = start(operation, { rows: 4_000, clock, rate: 200, concurrency: 32 });
		expect(await clock.until(run.done)).toBeUndefined();
		expect(told.length).toBeGreaterThan(5);
		for (const time of told) {
			const after = starts.filter((each) => each > time);
			expect(Math.min(...after)).toBeGreaterThanOrEqual(time + 3_000);
			expect(after.filter((each) => each < time + 4_000).length).toBeLessThanOrEqual(50);
		}
		expect(run.journal.totals()).toMatchObject({ updated: 4_000, failed: 0, attempts: 4_000 + told.length });
	});

	it("and does nothing else ends the run after --max-outage, with every row pending", async () => {
		const run = start(
			updating(() => Promise.reject(failure("throttled", { retryAfter: 60_000, status: 429 }))),
			{ rows: 100, maxOutage: 300_000 },
		);
		const stop = await run.clock.until(run.done);
		expect(stop).toMatchObject({
			exit: Exit.temporary,
			text: expect.stringContaining("only asked to slow down for 5m0s"),
		});
		expect(run.clock.now()).toBeLessThan(370_000);
		expect(run.journal.totals()).toMatchObject({ failed: 0, pending: 100 });
	});

	it("for longer than --max-wait ends the run at once and names the time to retry", async () => {
		const run = start(
			updating(() => Promise.reject(failure("throttled", { retryAfter: 60_000 }))),
			{ rows: 100, maxWait: 59_000 },
		);
		const text = expect.stringMatching(/asks to wait 1m0s, until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; .* --max-wait 59s$/);
		expect(await run.clock.until(run.done)).toMatchObject({ exit: Exit.temporary, text });
		expect(run.clock.now()).toBe(0);
		expectAccounted(run, 100);
	});

	it("does not delay an interrupt, even with rows held by the lowered rate", async () => {
		const clock = new FakeClock();
		let sent = 0;
		const operation = updating(() => {
			sent += 1;
			if (sent < 20) throw failure("throttled", { retryAfter: 0 });
		});
		const run = start(operation, { rows: 1_000, clock, rate: 2, concurrency: 32 });
		await clock.pass(5_100);
		const stop = { exit: Exit.interrupted, text: "stopped" };
		run.user.abort(stop);
		expect(await clock.until(run.done)).toEqual(stop);
		expect([clock.now(), clock.sleeping]).toEqual([5_100, 0]);
		expectAccounted(run, 1_000);
	});
});

describe("--max-duration", () => {
	it("ends the run with exit 9 at that time, finishes requests in flight, and leaves the rest pending", async () => {
		const clock = new FakeClock();
		let abandoned = false;
		const run = start(
			updating(() => clock.sleep(8_000)),
			{ rows: 100, clock, concurrency: 10, maxDuration: 9_000, abandon: () => (abandoned = true) },
		);
		expect(await clock.until(run.done)).toMatchObject({ exit: Exit.limit, text: "stopped by --max-duration 9s" });
		// Ten rows were in flight when the time was up: their answers are waited for, longer than after Ctrl-C.
		expect(clock.now()).toBe(16_000);
		expect(run.journal.totals()).toMatchObject({ updated: 20, failed: 0, pending: 80 });
		expect([abandoned, clock.sleeping]).toEqual([false, 0]);
	});

	it("that is over does not delay an interrupt beyond five seconds", async () => {
		const clock = new FakeClock();
		const cut = new AbortController();
		const operation = updating(async () => {
			await clock.sleep(60_000, cut.signal);
			if (cut.signal.aborted) throw failure("ambiguous", { code: "CLOSED" });
		});
		const run = start(operation, { rows: 10, clock, maxDuration: 1_000, abandon: () => cut.abort() });
		await clock.pass(2_000);
		run.user.abort({ exit: Exit.interrupted, text: "stopped" });
		await clock.until(run.done);
		expect(clock.now()).toBe(7_000);
		expectAccounted(run, 10);
	});

	it.each([
		["a wait that the service asks for", "throttled", 10, { retryAfter: 20_000 }, 0],
		["the back-off of the only row that is left", "ambiguous", 1, { status: 500 }, 9_999],
		["an outage", "not_sent", 100, {}, 10_000],
	] as const)("does not wait for %s that would exceed it, and fails no row", async (_, kind, rows, more, latest) => {
		const clock = new FakeClock(0.9);
		const run = start(
			updating(() => Promise.reject(failure(kind, more))),
			{ rows, clock, maxDuration: 10_000, maxOutage: 60_000, attempts: 100 },
		);
		expect(await clock.until(run.done)).toMatchObject({ exit: Exit.limit, text: "stopped by --max-duration 10s" });
		expect(clock.now()).toBeLessThanOrEqual(latest);
		expect(run.journal.totals()).toMatchObject({ failed: 0, pending: rows });
		expect(clock.sleeping).toBe(0);
	});

	it("counts the time of rows that were sent before: a command has one limit", async () => {
		const clock = new FakeClock();
		await clock.pass(9_000);
		const run = start(
			updating(() => clock.sleep(400)),
			{ rows: 100, clock, concurrency: 10, maxDuration: 10_000, started: 0 },
		);
		expect(await clock.until(run.done)).toMatchObject({ exit: Exit.limit, text: "stopped by --max-duration 10s" });
		expect(run.journal.totals()).toMatchObject({ updated: 30, pending: 70 });
	});

	it("that is long enough changes nothing", async () => {
		const run = start(
			updating(() => run.clock.sleep(10)),
			{ rows: 100, maxDuration: 10_000 },
		);
		expect(await run.clock.until(run.done)).toBeUndefined();
		expect(run.clock.sleeping).toBe(0);
	});
});
