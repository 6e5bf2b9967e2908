import { expect, it } from "vitest";
import type { Answer, Ask } from "../../../../src/run/rate/shared/script.ts";
import { SharedCap } from "../../../../src/run/rate/shared/shared-cap.ts";
import type { Share } from "../../../../src/run/rate/shared/store.ts";
import { FakeClock, idle } from "../../fake-clock.ts";

/** A run of four with a cap of 100, and a Redis that the test answers for. */
async function world(answer: (ask: Ask) => Partial<Answer> | undefined = () => ({})) {
	const clock = new FakeClock();
	const asks: Ask[] = [];
	const shares: (Share | undefined)[] = [];
	const cooldowns: number[] = [];
	const redis = { answer };
	const shared = await SharedCap.start({
		clock,
		run: "a",
		cap: () => 100,
		onShare: (share) => shares.push(share),
		onCooldown: (milliseconds) => cooldowns.push(milliseconds),
		store: {
			close: () => undefined,
			call: async (ask) => {
				asks.push(ask);
				const said = redis.answer(ask);
				if (said === undefined) throw new Error("away");
				const usual = {
					permit: `${asks.length}:${ask.want}`,
					count: ask.want,
					wait: 0,
					runs: 4,
					cap: 100,
					cooldown: 0,
					cuts: 0,
				};
				return { ...usual, ...said };
			},
		},
	});
	return { clock, asks, shares, cooldowns, redis, shared };
}

it("a permit is good from its time on, and Redis learns when it was used", async () => {
	const { clock, asks, shared } = await world(({ want }) => (want > 0 ? { wait: 40 } : {}));
	const taken = shared.take(undefined);
	let isTaken = false;
	void taken.then(() => (isTaken = true));
	await clock.pass(39);
	expect(isTaken).toBe(false);
	await clock.pass(1);
	const permit = await taken;
	expect(permit.isGood()).toBe(true);
	await clock.pass(5);
	permit.used();
	// The request is written in the turns after this.
	await idle();
	await idle();
	await clock.pass(100);
	const reports = asks.flatMap(({ sent }) => sent);
	expect(reports).toHaveLength(1);
	expect(reports[0]).toMatchObject({ permit: "2:1", count: 1 });
	expect(reports[0]?.age).toBeLessThan(25);
	await shared.close();
});

it("a permit that waited for too long is not used", async () => {
	const { clock, shared } = await world();
	const permit = await clock.until(shared.take(undefined));
	await clock.pass(1001);
	expect(permit.isGood()).toBe(false);
	permit.drop();
	await shared.close();
});

it("many requests take their permits with few calls at a high cap", async () => {
	const { clock, asks, shared } = await world(() => ({ cap: 5000 }));
	const permits = Array.from({ length: 100 }, () => shared.take(undefined));
	for (const permit of await clock.until(Promise.all(permits))) permit.used();
	expect(asks.filter(({ want }) => want > 0).map(({ want }) => want)).toEqual([50, 50]);
	await shared.close();
});

it("the next permits are ordered before the present ones may be used, and no further ahead than a call takes", async () => {
	// One permit every ten milliseconds, as a cap of 100 gives them.
	let next = 0;
	const { clock, asks, shared } = await world(({ want }) => {
		if (want === 0) return {};
		next = Math.max(next, clock.now()) + 10;
		return { wait: next - clock.now() };
	});
	const taken: number[] = [];
	for (let count = 0; count < 20; count++) void shared.take(undefined).then(() => taken.push(clock.now()));
	await clock.pass(1);
	const early = asks.filter(({ want }) => want > 0).length;
	expect(early).toBeGreaterThan(2);
	expect(early).toBeLessThan(6);
	await clock.pass(200);
	expect(taken).toHaveLength(20);
	// None was late: each came as soon as Redis allowed it.
	expect(taken.at(-1)).toBeLessThanOrEqual(201);
	expect(shared.lead).toBe(30);
	await shared.close();
});

it.each([0, 1, 5, 9, 25])("a request that comes %i ms after a call waits for no second one", async (after) => {
	const { clock, shared } = await world(() => ({ cap: 5000 }));
	(await clock.until(shared.take(undefined))).used();
	await clock.pass(after);
	const from = clock.now();
	await clock.until(shared.take(undefined));
	expect(clock.now() - from).toBeLessThanOrEqual(10);
	await shared.close();
});

it("without Redis a run goes on at its share, and shares again some seconds after Redis is back", async () => {
	const { clock, asks, shares, redis, shared } = await world();
	redis.answer = () => undefined;
	const permit = await clock.until(shared.take(undefined));
	expect(shares).toEqual([{ rate: 25, cap: 100, runs: 4 }]);
	await clock.pass(2000);
	redis.answer = () => ({});
	permit.used();
	await clock.pass(600);
	expect(asks.flatMap(({ sent }) => sent)).toMatchObject([{ permit: "", count: 1 }]);
	expect(shares).toHaveLength(1);
	await clock.pass(3200);
	expect(shares).toEqual([{ rate: 25, cap: 100, runs: 4 }, undefined]);
	expect(shared.awaySeconds).toBeGreaterThanOrEqual(2);
	expect(shared.awaySeconds).toBeLessThanOrEqual(2.6);
	await shared.close();
});

it("a request to slow down that Redis did not hear is said again", async () => {
	const { clock, asks, redis, shared } = await world();
	redis.answer = () => undefined;
	shared.slowDown();
	shared.cool(10_000);
	await clock.pass(700);
	redis.answer = () => ({});
	await clock.pass(500);
	const heard = asks.at(-1);
	expect(asks.some(({ slowDown, cooldown }) => slowDown && cooldown > 8000)).toBe(true);
	expect(asks.filter(({ slowDown }) => slowDown).length).toBeGreaterThan(1);
	expect(heard).toMatchObject({ slowDown: false, cooldown: 0 });
	await shared.close();
});

it("a cooldown of another run holds here within a second", async () => {
	const { clock, cooldowns, redis, shared } = await world();
	redis.answer = () => ({ cooldown: 5000 });
	await clock.pass(1001);
	expect(cooldowns).toContain(5000);
	await shared.close();
});

it("a request that is given up leaves the queue", async () => {
	const { clock, shared } = await world(({ want }) => (want > 0 ? { count: 0, wait: 5000 } : {}));
	const abort = new AbortController();
	const taken = shared.take(abort.signal);
	await clock.pass(10);
	abort.abort(new Error("enough"));
	await expect(taken).rejects.toThrow("enough");
	await shared.close();
});
