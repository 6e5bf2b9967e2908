import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { nameOfCap } from "../../../../src/run/rate/shared/identity.ts";
import { redisStore } from "../../../../src/run/rate/shared/redis-store.ts";
import { answerOf, type Answer, type Ask } from "../../../../src/run/rate/shared/script.ts";
import { hasRedis, redisServer, withoutRedis } from "../../../support/redis.ts";
import { KEY } from "../../../support/service.ts";

const SERVICE = "https://rag.example.com/api/v1";

/** A Redis, and calls of runs with a cap of 10 a second. */
async function shared(): Promise<{ url: string; call: (ask: Partial<Ask> & { run: string }) => Promise<Answer> }> {
	const { url } = await redisServer();
	const store = redisStore(new URL(url), await nameOfCap(SERVICE, KEY), []);
	onTestFinished(() => store.close());
	const usual = { cap: 10, want: 0, slowDown: false, cooldown: 0, sent: [] };
	return { url, call: (ask) => store.call({ ...usual, ...ask }) };
}

it.skipIf(!hasRedis)(
	`two runs get no more permits than the cap, until requests are a second old${withoutRedis}`,
	async () => {
		const { call } = await shared();
		const first = await call({ run: "a", want: 5 });
		expect(first).toMatchObject({ count: 5, wait: 0, runs: 1, cap: 10 });
		const second = await call({ run: "b", want: 5 });
		expect(second).toMatchObject({ count: 5, runs: 2, cap: 10 });
		// Spaced: five permits take nearly half a second of the cap, of which the script lets late timers make up a little.
		expect(second.wait).toBeGreaterThan(300);
		expect(second.wait).toBeLessThanOrEqual(485);
		// Nobody has said when the first ones were used: they may be used for a second.
		expect(await call({ run: "a", want: 1 })).toMatchObject({ count: 0 });
		const sent = [{ permit: first.permit, count: 5, age: 0 }];
		const third = await call({ run: "a", want: 5, sent });
		expect(third.count).toBe(0);
		expect(third.wait).toBeGreaterThan(1000 - 10);
		expect(third.wait).toBeLessThanOrEqual(1003);
		// Permits that were not used are free at once.
		expect(await call({ run: "b", want: 1, sent: [{ permit: second.permit, count: 0, age: 0 }] })).toMatchObject({
			count: 1,
		});
	},
);

it.skipIf(!hasRedis)(`requests that were sent without Redis count too${withoutRedis}`, async () => {
	const { call } = await shared();
	await call({ run: "a", sent: [{ permit: "", count: 10, age: 100 }] });
	const { count, wait } = await call({ run: "b", want: 1 });
	expect(count).toBe(1);
	expect(wait).toBeGreaterThan(700);
	expect(wait).toBeLessThanOrEqual(903);
});

it.skipIf(!hasRedis)(`the lowest cap of the runs that are going on holds for all${withoutRedis}`, async () => {
	const { call } = await shared();
	await call({ run: "a", cap: 100 });
	expect(await call({ run: "b", cap: undefined })).toMatchObject({ runs: 2, cap: 100 });
	expect(await call({ run: "c", cap: 20 })).toMatchObject({ runs: 3, cap: 20 });
	await call({ run: "c", ends: true });
	expect(await call({ run: "a", cap: 100 })).toMatchObject({ runs: 2, cap: 100 });
});

it.skipIf(!hasRedis)(`a request to slow down and a Retry-After reach the other runs${withoutRedis}`, async () => {
	const { call } = await shared();
	await call({ run: "a", slowDown: true });
	// Within a second it is the same request to slow down.
	expect(await call({ run: "a", slowDown: true, cooldown: 60_000 })).toMatchObject({ cuts: 1 });
	const other = await call({ run: "b", want: 1 });
	expect(other).toMatchObject({ count: 0, cuts: 1 });
	expect(other.cooldown).toBeGreaterThan(50_000);
	expect(other.wait).toBeGreaterThan(50_000);
});

it.skipIf(!hasRedis)(`a lowered rate spaces the permits of every run${withoutRedis}`, async () => {
	const { call } = await shared();
	await call({ run: "a", slowDown: true });
	await call({ run: "b", want: 1 });
	const { wait } = await call({ run: "a", want: 1 });
	// 7 a second instead of 10: 143 ms, less what late timers may make up for and the time of the calls.
	expect(wait).toBeGreaterThan(97);
	expect(wait).toBeLessThanOrEqual(143);
});

it.skipIf(!hasRedis)(`Redis learns neither the key nor the address${withoutRedis}`, async () => {
	const { url, call } = await shared();
	await call({ run: "a", want: 1, slowDown: true, cooldown: 10 });
	const redis = new Redis(url);
	onTestFinished(() => redis.disconnect());
	const keys = await redis.keys("*");
	const values = [
		...(await Promise.all(keys.filter((key) => !key.endsWith(":window")).map((key) => redis.hgetall(key)))),
		await redis.zrange(keys.find((key) => key.endsWith(":window")) ?? "", 0, -1),
	];
	const text = JSON.stringify([keys, values]);
	expect(keys).toHaveLength(3);
	for (let at = 0; at + 6 <= KEY.length; at++) expect(text).not.toContain(KEY.slice(at, at + 6));
	expect(text).not.toContain("example");
	expect(await nameOfCap(SERVICE, KEY)).not.toBe(await nameOfCap(SERVICE, `${KEY}1`));
	expect(await nameOfCap(SERVICE, KEY)).not.toBe(await nameOfCap(`${SERVICE}1`, KEY));
});

it.each([undefined, "", "1:1 1", "1:1 1 0 1 100 0 0 0", "1:1 x 0 1 100 0 0"])(
	"an answer %j of another program is refused",
	(text) => {
		expect(() => answerOf(text)).toThrow("not its own");
	},
);
