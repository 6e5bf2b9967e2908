import { describe, expect, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import type { Journal, Work } from "../../../src/run/types.ts";
import { totalsOf } from "../../support/pages.ts";
import { FakeClock, idle } from "../fake-clock.ts";
import { chunksOf, failure, start, updating } from "../harness.ts";

const reject = (index: number, code = "CODE_102"): never => {
	throw failure("rejected", { code: index < 0 ? "" : code, status: 200 });
};

const away = (): Promise<never> => Promise.reject(failure("not_sent"));

describe("a run that stops", () => {
	it("leaves the rows pending when the key is refused, and sends no further request", async () => {
		const clock = new FakeClock();
		let sent = 0;
		const operation = updating(async () => {
			sent += 1;
			await clock.sleep(10);
			throw failure("untrusted", { code: "KEY_REJECTED", status: 401 });
		});
		const run = start(operation, { rows: 100, clock });
		expect(await clock.until(run.done)).toMatchObject({ exit: Exit.untrusted });
		expect(sent).toBe(4);
		expect(run.outcomes).toEqual([]);
		expect(run.journal.totals()).toMatchObject({ failed: 0, pending: 100 });
	});

	const rows = (value: number) => ({ maxErrors: { unit: "rows", value } as const });
	const everySecond = (index: number): unknown => index % 2 === 0 || reject(index);

	it.each<[string, (index: number) => unknown, Parameters<typeof start>[1], number | undefined, object]>([
		["pending, where the service was never reached", away, {}, Exit.temporary, { failed: 0, pending: 10 }],
		["pending after --max-errors", everySecond, rows(3), Exit.limit, { updated: 3, failed: 3, pending: 4 }],
		// A wrong dataset does not cost a million requests.
		["pending after ten refusals that are all alike", reject, { rows: 100 }, Exit.limit, { failed: 10, pending: 90 }],
		["to be sent, if the user set --max-errors", reject, { rows: 30, ...rows(99) }, undefined, { failed: 30 }],
	])("leaves the other rows %s", async (_, call, options, exit, totals) => {
		const run = start(
			updating(({ index }) => call(index)),
			{ concurrency: 1, ...options },
		);
		expect((await run.clock.until(run.done))?.exit).toBe(exit);
		expect(run.journal.totals()).toMatchObject(totals);
	});
});

describe("a user who interrupts", () => {
	const stop = { exit: Exit.interrupted, text: "stopped by SIGINT", hint: "Run it again." };

	it("gets the requests in flight finished and recorded, and sees the reason", async () => {
		const clock = new FakeClock();
		let abandoned = false;
		const operation = updating(() => clock.sleep(4_000));
		const run = start(operation, { rows: 100, clock, abandon: () => (abandoned = true) });
		await clock.pass(4_100);
		run.user.abort(stop);
		expect(await clock.until(run.done)).toEqual(stop);
		expect(run.journal.totals()).toMatchObject({ updated: 8, pending: 92 });
		expect(abandoned).toBe(false);
		expect(clock.sleeping).toBe(0);
	});

	it("waits at most five seconds for a service that hangs, and rows cut off are not recorded", async () => {
		const clock = new FakeClock();
		const cut = new AbortController();
		const operation = updating(async () => {
			await clock.sleep(60_000, cut.signal);
			if (cut.signal.aborted) throw failure("ambiguous", { code: "CLOSED", status: 200 });
		});
		const run = start(operation, { clock, attempts: 1, abandon: () => cut.abort() });
		await clock.pass(1_000);
		run.user.abort(stop);
		await clock.pass(4_999);
		expect(cut.signal.aborted).toBe(false);
		expect(await clock.until(run.done)).toEqual(stop);
		expect(clock.now()).toBe(6_000);
		expect(run.journal.totals()).toMatchObject({ updated: 0, failed: 0, pending: 10 });
	});

	it("does not wait for a retry or for a pause that the service asked for", async () => {
		const clock = new FakeClock();
		const run = start(
			updating(() => Promise.reject(failure("throttled", { retryAfter: 200_000 }))),
			{ clock },
		);
		await clock.pass(1_000);
		run.user.abort(stop);
		expect(await clock.until(run.done)).toEqual(stop);
		expect(clock.now()).toBe(1_000);
		expect(run.journal.totals()).toMatchObject({ failed: 0, pending: 10 });
	});

	it("sends nothing if the interrupt came before the start", async () => {
		let sent = 0;
		const user = new AbortController();
		user.abort(stop);
		const run = start(
			updating(() => void (sent += 1)),
			{ signal: user.signal },
		);
		expect(await run.clock.until(run.done)).toEqual(stop);
		expect(sent).toBe(0);
	});

	it("leaves a stored file's row pending, with a record that only the metadata is missing", async () => {
		const clock = new FakeClock();
		const run = start(
			async ({ documentId }, request, memory) => {
				memory.stored = await request(async () => {
					await clock.sleep(100);
					return { id: "new", name: "a.txt" };
				});
				await request(() => clock.sleep(100));
				return { status: "uploaded", documentId };
			},
			{ rows: 1, clock },
		);
		await clock.pass(50);
		run.user.abort(stop);
		expect(await clock.until(run.done)).toEqual(stop);
		expect(run.outcomes).toEqual([]);
		expect(run.journal.totals()).toMatchObject({ pending: 1 });
	});
});

describe("a part of the program that fails", () => {
	it("lets sent rows finish if the manifest breaks half-way, then reports the cause", async () => {
		const clock = new FakeClock();
		async function* broken(): AsyncGenerator<Work[]> {
			yield* chunksOf(20, 10);
			throw new Error("the manifest changed");
		}
		const run = start(
			updating(({ index }) => clock.sleep(10 * (index + 1))),
			{ rows: 100, chunks: broken(), clock },
		);
		await expect(clock.until(run.done)).rejects.toThrow("the manifest changed");
		expect(run.journal.totals()).toMatchObject({ updated: 20, pending: 80 });
	});

	it("stops reading and sending if an outcome cannot be stored, then reports the cause", async () => {
		const clock = new FakeClock();
		let read = 0;
		let sent = 0;
		const journal: Journal<Work> = {
			record: () => Promise.reject(new Error("the disk is full")),
			totals: () => {
				throw new Error("not asked for");
			},
		};
		const run = start(
			updating(async () => {
				sent += 1;
				await clock.sleep(10);
			}),
			{ chunks: chunksOf(1_000, 10, (rows) => (read = rows)), clock, journal },
		);
		await expect(clock.until(run.done)).rejects.toThrow("the disk is full");
		expect(sent).toBeLessThanOrEqual(8);
		expect(read).toBeLessThanOrEqual(20);
	});

	it("is reported as a fault of the program and fails no row", async () => {
		const run = start(
			updating(() => {
				throw new TypeError("x is not a function");
			}),
		);
		await expect(run.clock.until(run.done)).rejects.toThrow("x is not a function");
		expect(run.outcomes).toEqual([]);
	});

	it("frees a row's place only when its outcome is durable: what is not recorded is sent again", async () => {
		const clock = new FakeClock();
		let sent = 0;
		const journal: Journal<Work> = { record: () => clock.sleep(1_000), totals: () => totalsOf({}) };
		const run = start(
			updating(() => void (sent += 1)),
			{ clock, journal },
		);
		await idle();
		expect(sent).toBe(4);
		await clock.until(run.done);
		expect(sent).toBe(10);
	});
});
