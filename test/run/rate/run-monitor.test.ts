import { describe, expect, it } from "vitest";
import type { Activity } from "../../../src/activity.ts";
import { RunMonitor } from "../../../src/run/rate/run-monitor.ts";
import { FakeClock } from "../fake-clock.ts";
import { failure, start, updating } from "../harness.ts";
import { ratesOf } from "../rates.ts";

/** What a command that has begun is doing. */
function nowOf(monitor: RunMonitor): Activity {
	const activity = monitor.current();
	if (activity === undefined) throw new Error("the command has not begun");
	return activity;
}

/** A run with a monitor, and the states that it shows every 100 ms. */
function monitored(operation: Parameters<typeof start>[0], more: Parameters<typeof start>[1] = {}) {
	const clock = new FakeClock();
	const rates = ratesOf(clock, more.rate, more.limiter);
	const { monitor } = rates;
	monitor.enter("running");
	const run = start(operation, { clock, rates, ...more });
	const states: string[] = [];
	const look = async (): Promise<void> => {
		for (;;) {
			const { state, cause } = nowOf(monitor);
			const text = cause === undefined ? state : `${state}: ${cause}`;
			if (states.at(-1) !== text) states.push(text);
			await clock.sleep(100);
		}
	};
	void look();
	return { ...run, monitor, states };
}

describe("the state of a run and its cause", () => {
	it("waiting for a Retry-After, then slowed, then at the full rate", async () => {
		let sent = 0;
		const { clock, done, monitor, states } = monitored(
			updating(async () => {
				await clock.sleep(10);
				if ((sent += 1) === 3) throw failure("throttled", { status: 429, retryAfter: 14_000 });
			}),
			{ rows: 4000, rate: 100, concurrency: 1, limiter: { take: () => clock.sleep(10) } },
		);
		await clock.pass(9_000);
		const waiting = nowOf(monitor);
		// Half of the time that is added to each Retry-After.
		expect(waiting).toMatchObject({ state: "waiting", of: 14.7 });
		expect(waiting.seconds).toBeCloseTo(9, 0);
		await clock.until(done);
		expect(states).toEqual([
			"running",
			"waiting: the service asked for it (429)",
			"slowed: starts again slowly",
			"slowed: answers take 10 ms, 1 in flight",
		]);
		const { slow, seconds, requests } = monitor.pace();
		expect(requests).toBe(4001);
		expect(slow.map(({ cause }) => cause)).toEqual(["429", "slowed", "concurrency"]);
		// Each second counts for its strongest cause.
		expect(slow[0]?.seconds).toBeCloseTo(14.7, 0);
		expect(slow.reduce((sum, each) => sum + each.seconds, 0)).toBeLessThanOrEqual(seconds);
	});

	it("an outage, with its limit and the latest failure", async () => {
		let sent = 0;
		const { clock, done, monitor, states } = monitored(
			updating(async () => {
				await clock.sleep(10);
				sent += 1;
				if (sent > 100 && clock.now() < 30_000) throw failure("not_sent", { code: "CONNECTION_REFUSED" });
			}),
			{ rows: 300, rate: 100 },
		);
		await clock.pass(20_000);
		expect(monitor.current()).toMatchObject({ state: "outage", cause: "connection refused", of: 900 });
		await clock.until(done);
		expect(states.slice(0, 3)).toEqual(["running", "outage: connection refused", "slowed: starts again slowly"]);
		const outage = monitor.pace().slow.find(({ cause }) => cause === "outage");
		expect(outage?.seconds).toBeGreaterThan(20);
		expect(outage?.seconds).toBeLessThanOrEqual(monitor.pace().seconds);
	});

	it("a first answer that needs several attempts", async () => {
		const { clock, done, monitor } = monitored(
			updating(() => {
				throw failure("not_sent", { code: "CONNECTION_REFUSED" });
			}),
			{ rows: 1 },
		);
		await clock.pass(0);
		expect(monitor.current()).toMatchObject({
			state: "running",
			cause: "connection refused",
			again: { attempt: "2 of 6" },
		});
		const { again } = nowOf(monitor);
		expect(again?.seconds).toBeGreaterThan(0);
		await clock.pass(1000 * (again?.seconds ?? 0));
		expect(nowOf(monitor).again?.attempt).toBe("3 of 6");
		await clock.until(done);
	});

	it("stopping, with the reason of the user", async () => {
		const { clock, done, monitor, user } = monitored(
			updating(() => clock.sleep(1000)),
			{ rows: 100 },
		);
		await clock.pass(500);
		user.abort({ exit: 130, text: "stopped by SIGINT" });
		await clock.pass(300);
		expect(monitor.current()).toEqual({ state: "stopping", cause: "stopped by SIGINT", seconds: 0.3 });
		await clock.until(done);
	});

	it("requests in flight that are at their limit", async () => {
		const { clock, done, monitor } = monitored(
			updating(() => clock.sleep(500)),
			{ rows: 40, rate: 100, concurrency: 4 },
		);
		await clock.until(done);
		const { slow, seconds, latency, concurrency } = monitor.pace();
		expect({ latency, concurrency }).toEqual({ latency: 500, concurrency: 4 });
		expect(slow).toEqual([{ cause: "concurrency", seconds }]);
	});
});

describe("what a command without rows is doing", () => {
	const begun = () => {
		const clock = new FakeClock();
		return { clock, monitor: new RunMonitor(clock) };
	};
	const page = (items: number, total?: number) => async () => ({ items: Array.from({ length: items }), total });

	it("is nothing before it has begun, so that no word is shown too early", () => {
		expect(begun().monitor.current()).toBeUndefined();
	});

	it("counts the entries of a list, and begins anew with its first page", async () => {
		const { clock, monitor } = begun();
		monitor.enter("reading", "from rag.example.com");
		await monitor.lists.page("documents of D", 1, page(100, 250));
		await monitor.lists.page("documents of D", 2, page(100, 250));
		await clock.pass(2000);
		const reading = { state: "reading", what: "documents of D", seconds: 2 };
		expect(monitor.current()).toEqual({ ...reading, count: { done: 200, total: 250 } });
		// A total of 0 after the last page is no total.
		await monitor.lists.page("documents of D", 3, page(50, 0));
		expect(monitor.current()).toEqual({ ...reading, count: { done: 250, total: 250 } });
		await monitor.lists.page("documents of D", 1, page(100, 250));
		expect(monitor.current()).toEqual({ ...reading, count: { done: 100, total: 250 } });
	});

	it("names a list that a check of a manifest needs only while a page of it is on its way", async () => {
		const { monitor } = begun();
		monitor.enter("checking", "tags.csv");
		monitor.count({ done: 4096, unit: "rows" });
		let seen: Activity | undefined;
		await monitor.lists.page("documents of D", 1, async () => {
			seen = monitor.current();
			return { items: [], total: 0 };
		});
		expect(seen).toMatchObject({ state: "reading", what: "documents of D" });
		expect(monitor.current()).toMatchObject({ state: "checking", what: "tags.csv", count: { done: 4096 } });
	});
});
