import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { type Answer, answerOf, nameOfCap, redisStore, type Store } from "../../../../src/run/rate/shared/redis.ts";
import { hasRedis, redisServer, withoutRedis } from "../../../support/redis.ts";
import { KEY } from "../../../support/service.ts";

type Ask = Parameters<Store["call"]>[0];

const SERVICE = "https://rag.example.com/api/v1";

/** A Redis, and calls of runs with a cap of 1 a second: the time of a call is little against its permits. */
async function shared() {
	const { url, cli } = await redisServer();
	const name = await nameOfCap(SERVICE, KEY);
	const store = redisStore(new URL(url), name, []);
	onTestFinished(() => store.close());
	const call = (ask: Partial<Ask> & { run: string }): Promise<Answer> =>
		store.call({ cap: 1, permits: 0, cooldown: 0, ...ask });
	return { url, cli, name, call, leave: store.leave };
}

it.skipIf(!hasRedis)(`the runs get permits in turns, as many a second as the cap${withoutRedis}`, async () => {
	const { call } = await shared();
	for (const [turn, run] of ["a", "b", "a", "c"].entries()) {
		const { wait } = await call({ run, permits: 1 });
		expect(wait).toBeLessThanOrEqual(turn * 1000);
		expect(wait).toBeGreaterThan(turn * 1000 - 500);
	}
});

it.skipIf(!hasRedis)(`the lowest cap of the runs that are going on holds for all${withoutRedis}`, async () => {
	const { call, leave } = await shared();
	expect(await call({ run: "b", cap: undefined })).toMatchObject({ runs: 1, cap: undefined });
	expect(await call({ run: "a", cap: 100 })).toMatchObject({ runs: 2, cap: 100 });
	expect(await call({ run: "c", cap: 20 })).toMatchObject({ runs: 3, cap: 20 });
	await leave("c");
	expect(await call({ run: "a", cap: 100 })).toMatchObject({ runs: 2, cap: 100 });
});

it.skipIf(!hasRedis)(`a Retry-After reaches the other runs, no shorter one ends it${withoutRedis}`, async () => {
	const { call } = await shared();
	await call({ run: "a", cooldown: 60_000 });
	await call({ run: "a", cooldown: 1_000 });
	expect((await call({ run: "b" })).cooldown).toBeGreaterThan(50_000);
});

it.skipIf(!hasRedis)(`a Redis that lost what it held is noticed${withoutRedis}`, async () => {
	const { cli, call } = await shared();
	const { born } = await call({ run: "a" });
	expect((await call({ run: "a" })).born).toBe(born);
	cli("FLUSHALL");
	cli("SCRIPT", "FLUSH");
	expect((await call({ run: "a" })).born).not.toBe(born);
});

it.skipIf(!hasRedis).each([
	["slot", "1e308"],
	["slot", "nan"],
	["held", "1e308"],
	["held", "x"],
	["b", "1e-300 1e308"],
	["b", "nan nan"],
	["b", "x x"],
])(`a value that can't be right silences no run: %s = %s${withoutRedis}`, async (field, value) => {
	const { cli, name, call } = await shared();
	await call({ run: "a" });
	cli("HSET", name, field, value);
	const { wait, ...rest } = await call({ run: "a", permits: 1 });
	expect(rest).toMatchObject({ runs: 1, cap: 1, cooldown: 0 });
	expect(wait).toBeLessThan(1000);
	expect((await call({ run: "a", permits: 1 })).wait).toBeLessThanOrEqual(1000);
});

it.skipIf(!hasRedis)(`Redis learns neither the key nor the address${withoutRedis}`, async () => {
	const { url, name, call } = await shared();
	await call({ run: "a", permits: 1, cooldown: 10 });
	const redis = new Redis(url);
	onTestFinished(() => redis.disconnect());
	const keys = await redis.keys("*");
	const text = JSON.stringify([keys, await redis.hgetall(name)]);
	expect(keys).toEqual([name]);
	for (let at = 0; at + 6 <= KEY.length; at++) expect(text).not.toContain(KEY.slice(at, at + 6));
	expect(text).not.toContain("example");
	expect(await nameOfCap(SERVICE, KEY)).not.toBe(await nameOfCap(SERVICE, `${KEY}1`));
	expect(await nameOfCap(SERVICE, KEY)).not.toBe(await nameOfCap(`${SERVICE}1`, KEY));
});

it.each([undefined, "", "0 1 1 0", "1e999 1 1 0 1", "0 0 1 0 1", "0 1 x 0 1"])(
	"%j of another program is refused",
	(text) => {
		expect(() => answerOf(text)).toThrow("no such answer");
	},
);
