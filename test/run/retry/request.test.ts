import { describe, expect, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { DATABASE_AWAY, type RestErrorKind } from "../../../src/rest/errors.ts";
import { Cooldown } from "../../../src/run/rate/cooldown.ts";
import { requestWithRetry } from "../../../src/run/retry/request.ts";
import { FakeClock } from "../fake-clock.ts";
import { failure } from "../harness.ts";
import { countingLimiter, ratesOf } from "../rates.ts";

describe("one request of a command that runs no rows", () => {
	it("is answered although its first attempts failed", async () => {
		const clock = new FakeClock();
		let tries = 0;
		const answer = requestWithRetry(() => {
			tries += 1;
			return tries < 6 ? Promise.reject(failure("ambiguous")) : Promise.resolve("here");
		}, ratesOf(clock));
		expect(await clock.until(answer)).toBe("here");
		expect(tries).toBe(6);
	});

	it.each<[RestErrorKind, number, number, { code?: string }]>([
		["rejected", 1, Exit.failedRows, {}],
		["untrusted", 1, Exit.untrusted, {}],
		["not_the_api", 1, Exit.temporary, {}],
		["not_sent", 6, Exit.temporary, {}],
		["ambiguous", 6, Exit.temporary, {}],
		["throttled", 6, Exit.temporary, {}],
		// A key that was accepted before may be refused by a database that is away.
		["doubted", 6, Exit.untrusted, { code: "KEY_REJECTED" }],
		["ambiguous", 6, Exit.temporary, { code: DATABASE_AWAY }],
	])("%s is tried %d times within half a minute and ends with exit %d", async (kind, most, exit, more) => {
		const clock = new FakeClock(0.9);
		let tries = 0;
		const answer = requestWithRetry(() => {
			tries += 1;
			return Promise.reject(failure(kind, { status: 200, ...more }));
		}, ratesOf(clock));
		await expect(clock.until(answer)).rejects.toMatchObject({ name: "CliError", exit });
		expect(tries).toBe(most);
		expect(clock.now()).toBeLessThanOrEqual(30_000);
	});

	it.each([
		[29_000, 2],
		[30_001, 1],
		[400_000, 1],
	])("does not wait %d ms that end after half a minute", async (retryAfter, most) => {
		const clock = new FakeClock(0);
		let tries = 0;
		const answer = requestWithRetry(() => {
			tries += 1;
			return Promise.reject(failure("throttled", { retryAfter }));
		}, ratesOf(clock));
		await expect(clock.until(answer)).rejects.toMatchObject({ exit: Exit.temporary });
		expect(tries).toBe(most);
		expect(clock.now()).toBeLessThanOrEqual(30_000);
	});

	it("is not repeated after a lost answer if a second time would do harm", async () => {
		const clock = new FakeClock();
		let tries = 0;
		const create = (): Promise<never> => {
			tries += 1;
			return Promise.reject(failure(tries === 1 ? "not_sent" : "ambiguous"));
		};
		const answer = requestWithRetry(create, ratesOf(clock), { idempotent: false });
		await expect(clock.until(answer)).rejects.toMatchObject({ exit: Exit.temporary });
		expect(tries).toBe(2);
	});

	it("stops waiting when the user interrupts", async () => {
		const clock = new FakeClock();
		const user = new AbortController();
		const reason = new Error("stopped by SIGINT");
		const answer = requestWithRetry(() => Promise.reject(failure("ambiguous")), ratesOf(clock), {
			signal: user.signal,
		});
		answer.catch(() => undefined);
		await clock.pass(0);
		user.abort(reason);
		await expect(clock.until(answer)).rejects.toBe(reason);
		expect(clock.now()).toBe(0);
	});

	it("reports a fault of the program unchanged", async () => {
		const fault = new TypeError("x is not a function");
		await expect(requestWithRetry(() => Promise.reject(fault), ratesOf(new FakeClock()))).rejects.toBe(fault);
	});
});

describe("the cooldown", () => {
	it("is not shortened by a shorter one that comes later", async () => {
		const clock = new FakeClock();
		const cooldown = new Cooldown(clock);
		cooldown.extend(5_000);
		await clock.pass(1_000);
		cooldown.extend(1_000);
		expect(cooldown.left).toBe(4_000);
		await clock.until(cooldown.over());
		expect(clock.now()).toBe(5_000);
	});

	it("delays a request if it began while the request waited for its token", async () => {
		const clock = new FakeClock();
		const rates = ratesOf(clock, undefined, { take: () => clock.sleep(100) });
		const sent = rates.send(() => Promise.resolve(clock.now()));
		await clock.pass(50);
		rates.cooldown.extend(5_000);
		expect(await clock.until(sent)).toBeGreaterThanOrEqual(5_050);
	});

	it("delays other requests even if the one that received it is not repeated", async () => {
		const clock = new FakeClock();
		const needed = ratesOf(clock);
		const refused = requestWithRetry(() => Promise.reject(failure("throttled", { retryAfter: 60_000 })), needed);
		await expect(clock.until(refused)).rejects.toMatchObject({ exit: Exit.temporary });
		const started: number[] = [];
		const next = requestWithRetry(() => {
			started.push(clock.now());
			return started.length === 1 ? Promise.reject(failure("ambiguous")) : Promise.resolve();
		}, needed);
		await clock.until(next);
		// Tried again: the minute that it was held back is not held against it.
		expect(started).toEqual([60_000, 60_125]);
	});

	it("counts a failed request against the cap too", async () => {
		const clock = new FakeClock();
		const limiter = countingLimiter();
		const rates = ratesOf(clock, undefined, limiter);
		await expect(rates.send(() => Promise.reject(failure("ambiguous")))).rejects.toThrow("ambiguous");
		expect(limiter.taken).toBe(1);
	});

	it("is heard with its end, or the lists of a run without a cap would stay at 20 a second", async () => {
		const clock = new FakeClock();
		const rates = ratesOf(clock);
		for (let sent = 0; sent < 20; sent += 1) await clock.until(rates.send(() => clock.sleep(50)));
		expect(rates.controller.found).toEqual({ rate: 40, because: null, at: null });
		await expect(rates.send(() => Promise.reject(failure("throttled")))).rejects.toThrow("throttled");
		expect(rates.controller.found).toMatchObject({ because: "429", at: 40 });
	});
});
