import { describe, expect, it } from "vitest";
import { Exit } from "../../../src/errors.ts";
import { Outage } from "../../../src/run/rate/outage.ts";
import { DATABASE_AWAY, type RestErrorKind } from "../../../src/rest/errors.ts";
import type { Stop } from "../../../src/run/types.ts";
import { FakeClock } from "../fake-clock.ts";
import { expectAccounted, failure, type Run, start, updating } from "../harness.ts";

type Service = {
	/** when each request came */
	readonly starts: number[];
	readonly notes: string[];
	readonly run: Run;
};

/** A run against a service that is gone from and to those times, with what `during` says. */
function run(
	[from, to]: readonly [number, number],
	{
		during = "not_sent",
		saying,
		latency = 10,
		...more
	}: Parameters<typeof start>[1] & {
		during?: RestErrorKind;
		saying?: { code?: string; status?: number } | undefined;
		latency?: number;
	},
): Service {
	const clock = more.clock ?? new FakeClock();
	const starts: number[] = [];
	const notes: string[] = [];
	const operation = updating(async () => {
		const time = clock.now();
		starts.push(time);
		await clock.sleep(latency);
		if (time >= from && time < to) throw failure(during, saying ?? (during === "ambiguous" ? { status: 502 } : {}));
	});
	return { starts, notes, run: start(operation, { ...more, clock, onNote: (text) => notes.push(text) }) };
}

const count = (times: readonly number[], from: number, to: number): number =>
	times.filter((time) => time >= from && time < to).length;

describe("an outage", () => {
	it("of a minute during a run of 100,000 rows costs no failed row and few requests", async () => {
		const { run: done, starts, notes } = run([5_000, 65_000], { rows: 100_000, concurrency: 8 });
		expect(await done.clock.until(done.done)).toBeUndefined();
		expect(done.journal.totals()).toMatchObject({ updated: 100_000, failed: 0, pending: 0 });
		expectAccounted(done, 100_000);
		expect(starts.length - 100_000).toBeLessThan(60);
		expect(done.journal.totals().attempts).toBe(starts.length);
		expect(notes).toEqual([
			"The service does not answer (it was not_sent): waiting for it, 15m0s at most.",
			expect.stringMatching(/^The service answers again after \d+m?\d*s: the run continues\.$/),
		]);
	});

	it.each<[RestErrorKind, number]>([
		["not_sent", 1],
		["not_sent", 64],
		["ambiguous", 4],
		["ambiguous", 64],
		["not_the_api", 64],
	])("of six seconds (%s) costs no row at concurrency %d", async (during, concurrency) => {
		const { run: done } = run([1_000, 7_000], { rows: 2_000, concurrency, during, latency: 5 });
		const stop = await done.clock.until(done.done);
		expectAccounted(done, 2_000);
		expect(done.journal.totals().failed).toBe(0);
		expect(stop).toBeUndefined();
	});

	it("allows one probe at a time and lets requests in flight finish", async () => {
		const clock = new FakeClock();
		let inFlight = 0;
		let mostWhileGone = 0;
		let gone = false;
		const operation = updating(async () => {
			inFlight += 1;
			if (gone) mostWhileGone = Math.max(mostWhileGone, inFlight);
			await clock.sleep(50);
			inFlight -= 1;
			if (clock.now() > 1_000 && clock.now() < 60_000) throw failure("ambiguous", { status: 503 });
		});
		const done = start(operation, { rows: 5_000, concurrency: 20, clock });
		await clock.pass(1_100);
		gone = true;
		await clock.pass(58_000);
		expect(mostWhileGone).toBe(1);
		gone = false;
		expect(await clock.until(done.done)).toBeUndefined();
		expect(done.journal.totals()).toMatchObject({ updated: 5_000, failed: 0 });
	});

	it("ends with one success, and the run restarts slowly, as a starting server can take little", async () => {
		const {
			run: done,
			starts,
			notes,
		} = run([5_000, 20_000], { rows: 100_000, concurrency: 32, latency: 20, rate: 400 });
		await done.clock.pass(20_000);
		while (notes.length < 2) await done.clock.pass(10);
		const back = done.clock.now();
		await done.clock.pass(3_000);
		const each = [0, 1, 2].map((second) => count(starts, back + second * 1_000, back + (second + 1) * 1_000));
		expect(each[0]).toBeGreaterThan(80);
		expect(each[0]).toBeLessThan(120);
		expect(each[1]).toBeGreaterThan(170);
		expect(each[1]).toBeLessThan(230);
		expect(each[2]).toBeGreaterThan(1_000);
		done.user.abort();
		await done.clock.until(done.done);
	});

	it("at the start of a run does not slow it, as no rate was seen yet", async () => {
		const { run: done, starts } = run([0, 0], { rows: 10_000, concurrency: 32, latency: 20 });
		await done.clock.pass(1_000);
		expect(starts.length).toBeGreaterThan(1_500);
		done.user.abort();
		await done.clock.until(done.done);
	});

	it.each<[string, number, number, number | undefined, number]>([
		["a quarter of an hour", 64, 1_000, undefined, 15 * 60_000],
		["--max-outage", 64, 1_000, 2_000, 2_000],
		["--max-outage, where a single row is left", 1, 1, 90_000, 90_000],
	])("that lasts longer than %s ends the run with exit 6, and the remaining rows stay pending", async (...row) => {
		const [, concurrency, rows, maxOutage, length] = row;
		const { run: done, notes } = run([1_000, Infinity], {
			rows: rows + 100,
			concurrency,
			latency: 10 * concurrency,
			maxOutage,
		});
		const stop = await done.clock.until(done.done);
		expect(stop).toMatchObject({
			exit: Exit.temporary,
			text: expect.stringContaining("cannot connect to the service for"),
		});
		expectAccounted(done, rows + 100);
		expect(done.journal.totals().failed).toBe(0);
		expect(done.journal.totals().pending).toBeGreaterThan(0);
		expect(done.clock.now()).toBeGreaterThan(length);
		expect(done.clock.now()).toBeLessThan(length + 5_000);
		expect(notes.length).toBeLessThanOrEqual(1);
	});

	it("does not begin while one of twenty requests succeeds", async () => {
		const clock = new FakeClock();
		let sent = 0;
		const notes: string[] = [];
		const operation = updating(async () => {
			const isGood = (sent += 1) % 20 === 0;
			await clock.sleep(5);
			if (!isGood) throw failure("ambiguous", { status: 500 });
		});
		const done = start(operation, { rows: 300, clock, onNote: (text) => notes.push(text), attempts: 1_000 });
		expect(await clock.until(done.done)).toBeUndefined();
		expect([done.journal.totals().failed, notes]).toEqual([0, []]);
	});

	it("begins although a gateway sometimes answers busy, and does not end because of that", async () => {
		const clock = new FakeClock();
		let sent = 0;
		const notes: string[] = [];
		const operation = updating(async () => {
			sent += 1;
			await clock.sleep(5);
			if (clock.now() < 1_000 || clock.now() > 61_000) return;
			throw sent % 10 === 0 ? failure("throttled", { retryAfter: 0 }) : failure("ambiguous", { status: 502 });
		});
		const done = start(operation, { rows: 10_000, concurrency: 20, clock, onNote: (text) => notes.push(text) });
		expect(await clock.until(done.done)).toBeUndefined();
		expect(done.journal.totals()).toMatchObject({ updated: 10_000, failed: 0 });
		expect(notes).toHaveLength(2);
	});

	it("that comes twice is reported twice, and late answers do not end it", async () => {
		const clock = new FakeClock();
		const notes: string[] = [];
		const isGone = (time: number): boolean => (time > 1_000 && time < 9_000) || (time > 30_000 && time < 40_000);
		const operation = updating(async ({ index }) => {
			const gone = isGone(clock.now());
			// Every hundredth answer is late, so that good answers come in the middle of an outage.
			await clock.sleep(index % 100 === 0 ? 3_000 : 20);
			if (gone) throw failure("not_sent");
		});
		const done = start(operation, { rows: 30_000, concurrency: 16, clock, onNote: (text) => notes.push(text) });
		expect(await clock.until(done.done)).toBeUndefined();
		expect(done.journal.totals()).toMatchObject({ updated: 30_000, failed: 0 });
		expect(notes.map((text) => text.slice(0, 24))).toEqual([
			"The service does not ans",
			"The service answers agai",
			"The service does not ans",
			"The service answers agai",
		]);
	});
});

describe("a service that was never reached", () => {
	it.each<[string, number, number | undefined, number, number]>([
		["six tries of a row", 6, undefined, 0, 30_000],
		["half a minute, however many tries are left", 1_000, undefined, 29_999, 31_000],
		["--max-outage, where it is given", 6, 120_000, 119_999, 121_000],
	])("ends the run after %s", async (_, attempts, maxOutage, earliest, latest) => {
		const { run: done } = run([0, Infinity], { rows: 50, attempts, maxOutage, latency: 0 });
		expect(await done.clock.until(done.done)).toMatchObject({ exit: Exit.temporary });
		expect(done.journal.totals()).toMatchObject({ failed: 0, pending: 50 });
		expect(done.clock.now()).toBeGreaterThanOrEqual(earliest);
		expect(done.clock.now()).toBeLessThanOrEqual(latest);
	});

	it("that starts within --max-outage gets all rows", async () => {
		const { run: done } = run([0, 50_000], { rows: 50, maxOutage: 120_000 });
		expect(await done.clock.until(done.done)).toBeUndefined();
		expect(done.journal.totals()).toMatchObject({ updated: 50 });
	});
});

describe("a user who interrupts an outage", () => {
	const stop: Stop = { exit: Exit.interrupted, text: "stopped by SIGINT" };

	it.each([
		["while rows are tried again", 500],
		["while all wait for the service", 10_000],
		["a minute later", 70_000],
	])("does not wait %s", async (_, after) => {
		const clock = new FakeClock();
		const done = start(
			updating(({ index }) => {
				if (index >= 5) throw failure("not_sent");
			}),
			{ rows: 500, clock, concurrency: 20 },
		);
		await clock.pass(after);
		done.user.abort(stop);
		expect(await clock.until(done.done)).toEqual(stop);
		expect(clock.now()).toBe(after);
		expectAccounted(done, 500);
		expect(done.journal.totals()).toMatchObject({ updated: 5, failed: 0, pending: 495 });
		expect(clock.sleeping).toBe(0);
	});
});

it.each([
	[0, 0.999, 999],
	[3, 0.5, 4_000],
	[6, 0.999, 9_990],
	[30, 0.5, 5_000],
	[30, 0, 100],
])(
	"after %d failed probes the next comes anywhere within twice the time, at most ten seconds (chance %d)",
	async (failed, random, wait) => {
		const clock = new FakeClock(random);
		const silent = (): void => undefined;
		const maxOutage = Number.POSITIVE_INFINITY;
		const outage = new Outage({ clock, maxOutage, onNote: silent, onStop: silent, onBack: silent });
		const { signal } = new AbortController();
		const first = await outage.pass(signal);
		for (let sent = 0; sent < 20; sent += 1) outage.failedWith(first, failure("ambiguous"));
		for (let probe = 0; probe < failed; probe += 1) {
			await clock.pass(10_000);
			outage.failedWith(await outage.pass(signal), failure("ambiguous"));
		}
		expect(outage.ongoing?.probeIn).toBeCloseTo(wait, 6);
	},
);

const away = { code: DATABASE_AWAY, status: 200 };
const refused = { code: "KEY_REJECTED", status: 401 };

describe("a database that is away for 20 seconds while its service answers", () => {
	it.each<[string, RestErrorKind, object, number]>([
		["as a code 100 in a run of 64", "ambiguous", away, 64],
		["as a code 100 in a run of 4", "ambiguous", away, 4],
		["as a code 100 in a run of one", "ambiguous", away, 1],
		["as a 401 in a run of 64", "doubted", refused, 64],
		["as a 401 in a run of 4", "doubted", refused, 4],
		["as a 401 in a run of one", "doubted", refused, 1],
	])("seen %s, costs no row and few requests", async (_, during, saying, concurrency) => {
		const { run: done, starts } = run([100, 20_100], { rows: 2_000, concurrency, during, saying, attempts: 1 });
		expect(await done.clock.until(done.done)).toBeUndefined();
		expectAccounted(done, 2_000);
		expect(done.journal.totals()).toMatchObject({ updated: 2_000, failed: 0 });
		expect(starts.length - 2_000).toBeLessThan(160);
	});

	it("prints what the run waits for, and how long at most", async () => {
		const database = run([100, 20_100], { rows: 2_000, concurrency: 64, during: "ambiguous", saying: away });
		await database.run.clock.until(database.run.done);
		expect(database.notes[0]).toBe(
			"The service reports that its database is not available (it was ambiguous): waiting for it, 15m0s at most.",
		);
		const key = run([100, 20_100], { rows: 2_000, concurrency: 64, during: "doubted", saying: refused });
		await key.run.clock.until(key.run.done);
		expect(key.notes[0]).toBe(
			"The service refuses a key that it has accepted (it was doubted): waiting for it, 2m0s at most.",
		);
	});

	it.each([1, 4, 64])("is waited for no longer than --max-outage at concurrency %d", async (concurrency) => {
		const options = { rows: 2_000, concurrency, during: "ambiguous", saying: away, maxOutage: 10_000 } as const;
		const { run: done } = run([100, Infinity], options);
		expect(await done.clock.until(done.done)).toMatchObject({ exit: Exit.temporary });
		expect(done.clock.now()).toBeGreaterThanOrEqual(10_100);
		expect(done.clock.now()).toBeLessThan(16_100);
		expect(done.journal.totals().failed).toBe(0);
	});
});

describe("a key that is revoked during a run", () => {
	it.each([
		[1, undefined, 120_000],
		[4, undefined, 120_000],
		[64, undefined, 120_000],
		[64, 5_000, 5_000],
		[1, 5_000, 5_000],
		[4, 3_600_000, 120_000],
	])("at concurrency %d, with --max-outage %s, ends the run after %d ms", async (concurrency, maxOutage, after) => {
		const options = { rows: 2_000, concurrency, during: "doubted", saying: refused } as const;
		const { run: done } = run([100, Infinity], { ...options, ...(maxOutage === undefined ? {} : { maxOutage }) });
		const stop = await done.clock.until(done.done);
		expect(stop).toMatchObject({ exit: Exit.untrusted, text: expect.stringContaining("was tried again for") });
		expect(stop?.hint).toContain("RAGTAG_API_KEY");
		expect(done.clock.now()).toBeGreaterThanOrEqual(100 + after);
		expect(done.clock.now()).toBeLessThan(100 + after + 6_000);
		const { failed, pending } = done.journal.totals();
		expect([failed, pending > 0]).toEqual([0, true]);
	});

	it("does not end the run early if a long outage came before it", async () => {
		const clock = new FakeClock();
		const operation = updating(async () => {
			await clock.sleep(10);
			const time = clock.now();
			if (time < 1_000) return;
			throw time < 100_000 ? failure("not_sent") : failure("doubted", refused);
		});
		const done = start(operation, { rows: 2_000, concurrency: 8, clock, maxOutage: 110_000 });
		expect(await clock.until(done.done)).toMatchObject({ exit: Exit.temporary });
	});

	it("does not end the run if only one row is refused: its row fails", async () => {
		const clock = new FakeClock();
		const operation = updating(async ({ index }) => {
			await clock.sleep(10);
			if (index === 5) throw failure("doubted", refused);
		});
		const done = start(operation, { rows: 5_000, concurrency: 4, clock });
		expect(await clock.until(done.done)).toBeUndefined();
		expect(done.journal.totals()).toMatchObject({ updated: 4_999, failed: 1 });
	});
});
