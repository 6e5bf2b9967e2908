import { expect, it } from "vitest";
import type { Answer, Store } from "../../../../src/run/rate/shared/redis.ts";
import { type Share, SharedCap } from "../../../../src/run/rate/shared/shared-cap.ts";
import { FakeClock } from "../../fake-clock.ts";

type Ask = Parameters<Store["call"]>[0];

/** A run of four with a cap of 100, and a Redis that the test answers for: undefined for none. */
async function world(answer: (ask: Ask) => Partial<Answer> | undefined = () => ({})) {
	const clock = new FakeClock();
	const asks: Ask[] = [];
	const notes: (Share | "back")[] = [];
	const cooldowns: number[] = [];
	const redis = { answer, milliseconds: 0 };
	const shared = await SharedCap.start({
		clock,
		run: "a",
		cap: () => 100,
		onAway: (_error, share) => notes.push(share),
		onBack: () => notes.push("back"),
		onCooldown: (milliseconds) => cooldowns.push(milliseconds),
		store: {
			close: () => undefined,
			leave: async () => undefined,
			call: async (ask) => {
				asks.push(ask);
				const time = clock.now();
				await clock.sleep(redis.milliseconds);
				const said = redis.answer(ask);
				if (said === undefined) throw new Error("away");
				return { wait: 0, runs: 4, cap: 100, cooldown: 0, born: "1", time, ...said };
			},
		},
	});
	const booked = (): number => asks.reduce((sum, { permits }) => sum + permits, 0);
	/** Sends requests one after another, and notes when each may go. */
	const times: number[] = [];
	const sends = (count: number): Promise<unknown> =>
		Promise.all(Array.from({ length: count }, () => shared.take(undefined).then(() => times.push(clock.now()))));
	return { clock, asks, notes, cooldowns, redis, shared, booked, times, sends };
}

const SHARE = { cap: 100, runs: 4 };

it.each([
	["is to come", 40, [40, 65]],
	["lies back", -20, [0, 5]],
])("a permit whose slot %s is good for 25 milliseconds: later ones would come together", async (_, wait, at) => {
	const { clock, shared } = await world(({ permits }) => ({ wait: wait * permits }));
	const until = await clock.until(shared.take(undefined));
	expect([clock.now(), until]).toEqual(at);
	await shared.close();
});

it("no permits are ordered further ahead than timers are late: a killed run would lose them", async () => {
	// One permit every ten milliseconds, as a cap of 100 gives them.
	let next = 0;
	const { clock, booked, times, sends, shared } = await world(({ permits }) => {
		if (permits === 0) return {};
		next = Math.max(next, 0) + 10;
		return { wait: next - clock.now() };
	});
	void sends(20);
	await clock.pass(1);
	expect(booked()).toBeLessThanOrEqual(4);
	await clock.pass(199);
	expect(times).toHaveLength(20);
	await shared.close();
});

it.each([100, 20_000])(
	"a permit is too old after a run stood still for %s ms: it would come together with later ones",
	async (milliseconds) => {
		const { clock, redis, notes, shared } = await world();
		redis.milliseconds = milliseconds;
		const until = await clock.until(shared.take(undefined));
		expect(until).toBeLessThan(clock.now() - milliseconds / 2);
		redis.milliseconds = 0;
		expect(await clock.until(shared.take(undefined))).toBeGreaterThan(clock.now());
		expect(notes).toEqual([]);
		await clock.until(shared.close());
	},
);

it("a run that stood still for long takes no failed call for the loss of Redis", async () => {
	const { clock, redis, notes, shared } = await world();
	redis.milliseconds = 20_000;
	redis.answer = () => undefined;
	void shared.take(undefined);
	await clock.pass(20_000);
	expect(notes).toEqual([]);
});

it("a clock of Redis that is set back or forward stops no run", async () => {
	let time = 1e9;
	const { clock, shared } = await world(() => ({ time }));
	for (time of [2e9, 1e9 - 3_600_000]) {
		expect(await clock.until(shared.take(undefined))).toBeGreaterThanOrEqual(clock.now());
		expect(clock.now()).toBeLessThan(1_000);
	}
	await shared.close();
});

it("without Redis a run sends at its share, and drops the permits of before", async () => {
	const { clock, redis, notes, times, sends, shared } = await world(({ permits }) => ({ wait: 500 * permits }));
	void sends(21);
	await clock.pass(1);
	redis.answer = () => undefined;
	await clock.pass(2_000);
	expect(notes).toEqual([SHARE]);
	// A request every 41 milliseconds, from when the next call failed: 40 would go over the cap where all runs send at once.
	expect(times.length).toBe(21);
	expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(20 * 41.2 - 20);
	await shared.close();
});

it.each([
	["is back", { born: "1" }],
	["is back, and empty, and the others are not", { born: "2", runs: 1 }],
])("a run whose Redis %s keeps its share for two seconds, and counts it there", async (_, back) => {
	const { clock, redis, notes, booked, times, sends, shared } = await world();
	redis.answer = () => undefined;
	void sends(1_000);
	await clock.pass(1_000);
	expect(shared.awaySeconds).toBe(1);
	const [before, sent] = [booked(), times.length];
	redis.answer = () => back;
	await clock.pass(1_900);
	expect(times.length - sent).toBeLessThanOrEqual(1.9 * 25 + 2);
	expect(booked() - before).toBeGreaterThan(25);
	expect(notes).toEqual([SHARE]);
	await clock.pass(1_000);
	expect(notes).toEqual([SHARE, "back"]);
	expect(shared.share).toMatchObject({ runs: 4, ...("runs" in back ? { runs: 1 } : {}) });
	await shared.close();
});

it("a run keeps its share for a while where Redis was emptied: no run has its permits counted", async () => {
	const { clock, redis, notes, shared } = await world();
	redis.answer = () => ({ born: "2", runs: 1 });
	await clock.pass(1_500);
	expect([notes, shared.share]).toEqual([[SHARE], SHARE]);
	await clock.pass(2_500);
	expect(notes).toEqual([SHARE, "back"]);
	expect(shared.awaySeconds).toBe(0);
	await shared.close();
});

it("a Retry-After that Redis did not hear is said again, and that of another run holds here within a second", async () => {
	const { clock, asks, redis, cooldowns, shared } = await world();
	redis.answer = () => undefined;
	shared.cool(10_000);
	await clock.pass(700);
	redis.answer = () => ({ cooldown: 5_000 });
	await clock.pass(1_000);
	expect(asks.at(-1)?.cooldown).toBeGreaterThan(8_000);
	expect(cooldowns).toContain(5_000);
	await shared.close();
});

it("no request waits where no run has a cap", async () => {
	const { redis, clock, shared } = await world();
	redis.answer = () => ({ cap: undefined });
	await clock.pass(1_000);
	expect(await shared.take(undefined)).toBe(Number.POSITIVE_INFINITY);
	await shared.close();
});

it("a request that waits when the run ends holds its process no longer: its turn may be minutes away", async () => {
	const { clock, redis, shared } = await world(({ permits }) => ({ wait: 100_000 * permits }));
	const taken = shared.take(undefined);
	await clock.pass(10);
	redis.answer = () => undefined;
	await clock.until(shared.close());
	await clock.until(taken);
	expect(clock.now()).toBeLessThan(1_000);
	await shared.take(undefined);
});

it("a request that is given up waits no longer, nor do those after it", async () => {
	const { clock, shared } = await world(({ permits }) => ({ wait: 5_000 * permits }));
	const abort = new AbortController();
	const taken = [shared.take(abort.signal), shared.take(abort.signal)].map((each) =>
		each.catch((error: unknown) => error),
	);
	await clock.pass(10);
	abort.abort(new Error("enough"));
	expect(await Promise.all(taken)).toEqual([new Error("enough"), new Error("enough")]);
	await shared.close();
});
