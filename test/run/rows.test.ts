import { describe, expect, it } from "vitest";
import { range } from "../support/values.ts";
import { FakeClock, idle } from "./fake-clock.ts";
import { type Group, grouped } from "../../src/run/operations/operation.ts";
import type { Work } from "../../src/run/types.ts";
import { chunksOf, failure, start, updating, work } from "./harness.ts";
import { countingLimiter } from "./rates.ts";

describe("reading and sending", () => {
	it("continues with the next chunk while one row of the first is slow", async () => {
		const clock = new FakeClock();
		const run = start(
			updating(({ index }) => clock.sleep(index === 0 ? 60_000 : 10)),
			{ rows: 50, clock },
		);
		await clock.pass(1_000);
		expect(run.outcomes).toHaveLength(49);
		await clock.until(run.done);
		expect(run.outcomes).toHaveLength(50);
	});

	it.each([4, 300])("reads an endless manifest as the service takes it, concurrency %d", async (concurrency) => {
		const clock = new FakeClock();
		let read = 0;
		let inFlight = 0;
		let most = 0;
		const chunks = chunksOf(Number.POSITIVE_INFINITY, 10, (rows) => (read = rows));
		const operation = updating(async () => {
			inFlight += 1;
			most = Math.max(most, inFlight);
			await clock.sleep(100);
			inFlight -= 1;
		});
		const run = start(operation, { chunks, clock, concurrency });
		for (let step = 0; step < 20; step += 1) {
			await clock.pass(100);
			expect(read - run.outcomes.length).toBeLessThanOrEqual(2 * concurrency + 10);
		}
		expect(most).toBe(concurrency);
		run.user.abort();
		await clock.until(run.done);
	});

	it("does not read a manifest to its end while every row waits for its next attempt", async () => {
		const clock = new FakeClock(1 - Number.EPSILON);
		let read = 0;
		let tries = 0;
		const chunks = chunksOf(Number.POSITIVE_INFINITY, 10, (rows) => (read = rows));
		const run = start(
			// Every tenth try succeeds: the service is there, and no outage holds the rows back.
			updating(({ index }) => {
				tries += 1;
				if (index > 0 && tries % 10 > 0) throw failure("ambiguous", { status: 500 });
			}),
			{ chunks, clock, attempts: 1000 },
		);
		await clock.pass(60_000);
		expect(read).toBeGreaterThan(100);
		expect(read - run.outcomes.length).toBeLessThanOrEqual(4 * 64 + 10);
		run.user.abort();
		await clock.until(run.done);
		expect(run.journal.totals()).toMatchObject({ failed: 0 });
	});

	/** How many requests of an endless run are in flight, second by second, at the latency that `latencyOf` gives. */
	async function inFlightAt(
		seconds: number,
		rate: number | undefined,
		latencyOf: (inFlight: number, clock: FakeClock) => number,
	): Promise<{ counts: number[]; rows: number }> {
		const clock = new FakeClock();
		let inFlight = 0;
		const operation = updating(async () => {
			inFlight += 1;
			await clock.sleep(latencyOf(inFlight, clock));
			inFlight -= 1;
		});
		const chunks = chunksOf(Number.POSITIVE_INFINITY, 100);
		const run = start(operation, { chunks, clock, rate, concurrency: "auto" });
		await idle();
		const counts = [inFlight];
		for (const _ of range(seconds)) {
			await clock.pass(1_000);
			counts.push(inFlight);
		}
		run.user.abort();
		await clock.until(run.done);
		return { counts, rows: run.outcomes.length };
	}

	it("raises the requests in flight if that brings more, and lowers the rows with the measured latency", async () => {
		const { counts } = await inFlightAt(15, 100, (_, clock) => (clock.now() < 10_000 ? 300 : 5));
		// 100 a second at 300 ms are 30.
		expect(counts[9]).toBeGreaterThanOrEqual(30);
		expect(counts[9]).toBeLessThan(50);
		expect(counts[15]).toBeLessThan(10);
	});
});

describe("retrying", () => {
	it("lets other rows pass while one waits for its next attempt", async () => {
		const clock = new FakeClock();
		const order: number[] = [];
		const operation = updating(({ index }) => {
			order.push(index);
			if (index === 0 && order.length === 1) throw failure("ambiguous");
		});
		const run = start(operation, { rows: 5, clock, concurrency: 1 });
		await idle();
		expect(order).toEqual([0, 1, 2, 3, 4]);
		await clock.until(run.done);
		expect(order).toEqual([0, 1, 2, 3, 4, 0]);
		expect(run.outcomes.at(-1)).toMatchObject({ item: work(0), status: "updated", attempts: 2 });
	});

	it("reads on when all rows wait for their next attempt", async () => {
		const clock = new FakeClock();
		const run = start(
			updating(({ index }) => {
				if (index < 2 && clock.now() < 50) throw failure("ambiguous");
			}),
			{ chunks: chunksOf(4, 2), rows: 4, clock, concurrency: 1 },
		);
		await idle();
		expect(run.outcomes.map(({ item }) => item.index)).toEqual([2, 3]);
		await clock.until(run.done);
	});

	it("takes a token of the cap for every attempt", async () => {
		const limiter = countingLimiter();
		const seen = new Map<number, number>();
		const operation = updating(({ index }) => {
			const tries = (seen.get(index) ?? 0) + 1;
			seen.set(index, tries);
			if (tries < 3) throw failure("ambiguous");
		});
		const run = start(operation, { limiter });
		await run.clock.until(run.done);
		expect(limiter.taken).toBe(30);
		expect(run.journal.totals()).toMatchObject({ updated: 10, attempts: 30 });
	});

	it("fails a row after its last attempt, and reports their number", async () => {
		const clock = new FakeClock();
		const operation = updating(({ index }) => {
			if (index === 3) throw failure("ambiguous", { code: "HTTP_500", status: 500 });
		});
		const run = start(operation, { clock, attempts: 4 });
		expect(await clock.until(run.done)).toBeUndefined();
		const error = { code: "HTTP_500", text: "it was ambiguous (after 4 tries)" };
		expect(run.outcomes.at(-1)).toMatchObject({ status: "failed", attempts: 4, error });
	});

	it("starts no request within the time that the service asked to wait", async () => {
		const clock = new FakeClock();
		const starts: number[] = [];
		const operation = updating(async () => {
			starts.push(clock.now());
			await clock.sleep(10);
			if (starts.length === 4) throw failure("throttled", { retryAfter: 5_000 });
		});
		const run = start(operation, { rows: 40, clock });
		await clock.until(run.done);
		expect(starts.filter((time) => time > 10 && time < 5_010)).toEqual([]);
		expect(run.journal.totals()).toMatchObject({ updated: 40, pending: 0 });
	});

	it("does not fail a row that was only throttled, however often, and counts every attempt", async () => {
		const clock = new FakeClock();
		let tries = 0;
		const operation = updating(() => {
			tries += 1;
			if (tries < 9) throw failure(tries % 2 === 0 ? "not_sent" : "throttled", { retryAfter: 60_000, status: 429 });
		});
		const run = start(operation, { rows: 1, clock, attempts: 3 });
		expect(await clock.until(run.done)).toBeUndefined();
		expect(run.outcomes).toMatchObject([{ status: "updated", attempts: 9 }]);
	});
});

describe("rows of a group", () => {
	/** The sizes of the groups of a run. @param most rows with which an attempt begins */
	function inGroups(rows: number, most?: number, onSent: (sent: number) => void = () => undefined) {
		const sizes: number[] = [];
		let sent = 0;
		const begin: Group["begin"] = (some, request) => {
			sizes.push(some.length);
			return async ({ item: { documentId } }) => {
				await request(async () => onSent((sent += 1)));
				return { status: "removed", documentId };
			};
		};
		return { run: start(grouped<Work>(most === undefined ? { begin } : { most, begin }), { rows }), sizes };
	}

	it.each([
		["wait until no other row can be sent", undefined, [25]],
		["begin when there are enough of them, and the last of them at the end", 10, [10, 10, 5]],
	])("%s", async (_, most, expected) => {
		const { run, sizes } = inGroups(25, most);
		await run.clock.until(run.done);
		expect(run.journal.totals()).toMatchObject({ removed: 25, pending: 0, attempts: 25 });
		expect(sizes).toEqual(expected);
	});

	it("begin in a long run before all are read, so that memory holds a few hundred rows", async () => {
		const { run, sizes } = inGroups(2_000);
		await run.clock.until(run.done);
		expect(run.journal.totals()).toMatchObject({ removed: 2_000, pending: 0 });
		expect(Math.max(...sizes)).toBeLessThan(400);
	});

	it("are pending where the flavour can't be known, and nothing of the group begins", async () => {
		const begin: Group["begin"] = () => expect.unreachable();
		const known = (): Promise<never> => Promise.reject(failure("untrusted", { status: 401 }));
		const run = start(grouped<Work>({ begin }), { rows: 3, service: { known, redetect: async () => false } });
		expect(await run.clock.until(run.done)).toMatchObject({ exit: 4 });
		expect(run.journal.totals()).toMatchObject({ pending: 3 });
	});

	it("are pending where the user stops the run, and it ends", async () => {
		const { run } = inGroups(30, undefined, (sent) => {
			if (sent >= 10) run.user.abort({ exit: 130, text: "stopped" });
		});
		expect(await run.clock.until(run.done)).toMatchObject({ exit: 130 });
		expect(run.journal.totals().pending).toBeGreaterThanOrEqual(16);
	});
});
