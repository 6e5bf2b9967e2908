import { describe, expect, it } from "vitest";
import { Exit } from "../../src/errors.ts";
import { unlimited } from "../../src/run/limiter.ts";
import { paced, Pause } from "../../src/run/pace.ts";
import { type RequestDependencies, requestWithRetry } from "../../src/run/request.ts";
import { FakeClock } from "./fake-clock.ts";
import { countingLimiter, failure } from "./harness.ts";

function dependencies(clock: FakeClock, signal?: AbortSignal): RequestDependencies {
	const pause = new Pause(clock);
	return { send: paced(unlimited, pause), pause, clock, ...(signal === undefined ? {} : { signal }) };
}

describe("one request of a command that runs no rows", () => {
	it("is answered although its first tries failed", async () => {
		const clock = new FakeClock();
		let tries = 0;
		const answer = requestWithRetry(() => {
			tries += 1;
			return tries < 6 ? Promise.reject(failure("ambiguous")) : Promise.resolve("here");
		}, dependencies(clock));
		expect(await clock.until(answer)).toBe("here");
		expect(tries).toBe(6);
	});

	it.each([
		["rejected", 1, Exit.failedRows],
		["untrusted", 1, Exit.untrusted],
		["not_the_api", 1, Exit.temporary],
		["not_sent", 6, Exit.temporary],
		["ambiguous", 6, Exit.temporary],
		["throttled", 6, Exit.temporary],
	] as const)("%s is tried %d times within half a minute and ends with exit %d", async (kind, most, exit) => {
		const clock = new FakeClock(0.9);
		let tries = 0;
		const answer = requestWithRetry(() => {
			tries += 1;
			return Promise.reject(failure(kind));
		}, dependencies(clock));
		await expect(clock.until(answer)).rejects.toMatchObject({ name: "CliError", exit });
		expect(tries).toBe(most);
		expect(clock.now()).toBeLessThanOrEqual(30_000);
	});

	it.each([
		[29_000, 2],
		[30_001, 1],
		[400_000, 1],
	])("does not sit out a wait of %d ms that ends after half a minute", async (retryAfter, most) => {
		const clock = new FakeClock(0);
		let tries = 0;
		const answer = requestWithRetry(() => {
			tries += 1;
			return Promise.reject(failure("throttled", { retryAfter }));
		}, dependencies(clock));
		await expect(clock.until(answer)).rejects.toMatchObject({ exit: Exit.temporary });
		expect(tries).toBe(most);
		expect(clock.now()).toBeLessThanOrEqual(30_000);
	});

	it("is not repeated after a lost answer where twice would harm", async () => {
		const clock = new FakeClock();
		let tries = 0;
		const create = (): Promise<never> => {
			tries += 1;
			return Promise.reject(failure(tries === 1 ? "not_sent" : "ambiguous"));
		};
		const answer = requestWithRetry(create, dependencies(clock), { idempotent: false });
		await expect(clock.until(answer)).rejects.toMatchObject({ exit: Exit.temporary });
		expect(tries).toBe(2);
	});

	it("gives up waiting when the user interrupts", async () => {
		const clock = new FakeClock();
		const user = new AbortController();
		const reason = new Error("stopped by SIGINT");
		const answer = requestWithRetry(() => Promise.reject(failure("ambiguous")), dependencies(clock, user.signal));
		answer.catch(() => undefined);
		await clock.pass(0);
		user.abort(reason);
		await expect(clock.until(answer)).rejects.toBe(reason);
		expect(clock.now()).toBe(0);
	});

	it("tells a fault of the program as it is", async () => {
		const fault = new TypeError("x is not a function");
		await expect(requestWithRetry(() => Promise.reject(fault), dependencies(new FakeClock()))).rejects.toBe(fault);
	});
});

describe("pace", () => {
	it("does not shorten a pause by a shorter one that comes later", async () => {
		const clock = new FakeClock();
		const pause = new Pause(clock);
		pause.extend(5_000);
		await clock.pass(1_000);
		pause.extend(1_000);
		expect(pause.left).toBe(4_000);
		await clock.until(pause.over());
		expect(clock.now()).toBe(5_000);
	});

	it("holds a request back for a pause that began while it waited for its token", async () => {
		const clock = new FakeClock();
		const pause = new Pause(clock);
		const limiter = { take: () => clock.sleep(100), close: () => undefined };
		const sent = paced(limiter, pause)(() => Promise.resolve(clock.now()));
		await clock.pass(50);
		pause.extend(5_000);
		expect(await clock.until(sent)).toBeGreaterThanOrEqual(5_050);
	});

	it("takes a token for a request that fails, too", async () => {
		const clock = new FakeClock();
		const limiter = countingLimiter();
		const send = paced(limiter, new Pause(clock));
		await expect(send(() => Promise.reject(failure("ambiguous")))).rejects.toThrow("ambiguous");
		expect(limiter.taken).toBe(1);
	});
});
