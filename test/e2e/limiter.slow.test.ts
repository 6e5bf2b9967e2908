import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { hasRedis, redisServer, type RedisServer, withoutRedis } from "../support/redis.ts";
import { type Running, start } from "../support/program.ts";
import { file, folder, KEY } from "../support/service.ts";
import { at, items, parse, summaryOf } from "../support/values.ts";

const SERVER = fileURLToPath(new URL("../../bench/instant-server.mjs", import.meta.url));
const CAP = 100;
const DATASET = "1".padStart(32, "0");
const PROCESSES = 3;
const ROWS = 250;

/** A service that notes when each request arrived, and runs that write `ROWS` rows each under one cap. */
async function world(redis: string) {
	const child: ChildProcess = spawn(process.execPath, [SERVER, "100000", "5"], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => void child.kill());
	const url = await new Promise<string>((resolve) => {
		child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().split("\n")[0] ?? ""));
	});
	const env = { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: KEY, RAGTAG_STATE_DIR: await folder(), RAGTAG_LIMITER: redis };
	const runs: Running[] = [];
	for (let index = 0; index < PROCESSES; index++) {
		const ids = Array.from({ length: ROWS }, (_, row) => (index * ROWS + row + 1).toString(16).padStart(32, "0"));
		const manifest = await file("tags.csv", `document_id,author\n${ids.map((id) => `${id},Ann\n`).join("")}`);
		runs.push(start(["docs", "tag", manifest, "-d", DATASET, "--rate", String(CAP), "--no-undo", "--json"], env));
	}
	const times: number[] = [];
	/** milliseconds for which the server stood still at most: what came meanwhile arrived late, and all at once */
	let stall = 0;
	/** Requests that have arrived so far. */
	const arrived = async (): Promise<number> => {
		const body = parse(await (await fetch(`${url}/arrivals`)).text());
		stall = Math.max(stall, Number(at(body, "stall")));
		return times.push(...items(at(body, "arrivals")).map(Number));
	};
	return { runs, times, arrived, stall: () => stall };
}

/** The most of these times that lie in any sliding second. */
function mostInASecond(times: readonly number[]): number {
	let most = 0;
	for (let first = 0, last = 0; last < times.length; last++) {
		while ((times[last] ?? 0) - (times[first] ?? 0) >= 1000) first += 1;
		most = Math.max(most, last - first + 1);
	}
	return most;
}

type World = { readonly redis: RedisServer; readonly runs: readonly Running[] };

function signal({ runs }: World, name: NodeJS.Signals): void {
	runs[0]?.child.kill(name);
}

/** The name of the cap's key in Redis. */
function keyOf({ redis }: World): string {
	return redis.cli("KEYS", "ragtag:limiter:*").trim();
}

/** What goes wrong, how it ends, and what the runs that lose Redis say about it. */
const FAULTS: Record<string, { begins: (world: World) => unknown; ends?: (world: World) => unknown; words?: string }> =
	{
		"a run is killed": { begins: (world) => signal(world, "SIGKILL") },
		"a run is frozen, and goes on": {
			begins: (world) => signal(world, "SIGSTOP"),
			ends: (world) => signal(world, "SIGCONT"),
		},
		"Redis is killed, and comes back empty": {
			begins: ({ redis }) => redis.stop(),
			ends: ({ redis }) => redis.start(),
			words: "does not answer",
		},
		"Redis stays away": { begins: ({ redis }) => redis.stop(), words: "does not answer" },
		"Redis is emptied, of its scripts too": {
			begins: ({ redis }) => [redis.cli("FLUSHALL"), redis.cli("SCRIPT", "FLUSH")],
			words: "was emptied",
		},
		"Redis is full for a while": {
			begins: ({ redis }) => redis.cli("CONFIG", "SET", "maxmemory", "1"),
			ends: ({ redis }) => redis.cli("CONFIG", "SET", "maxmemory", "0"),
			words: "refuses the shared limiter (OOM command not allowed",
		},
		"Redis is read-only for a while": {
			begins: ({ redis }) => redis.cli("REPLICAOF", "127.0.0.1", "1"),
			ends: ({ redis }) => redis.cli("REPLICAOF", "NO", "ONE"),
			words: "refuses the shared limiter (READONLY You can't write",
		},
		"the key gets another type for a while": {
			begins: (world) => {
				const key = keyOf(world);
				world.redis.cli("EVAL", "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], 'x')", "1", key);
			},
			ends: ({ redis }) => redis.cli("FLUSHALL"),
			words: "refuses the shared limiter (WRONGTYPE",
		},
	};

it.skipIf(!hasRedis).each(Object.keys(FAULTS))(
	`three runs share one cap, none hangs and no row is written twice where %s${withoutRedis}`,
	async (name) => {
		const { begins, ends, words } = FAULTS[name] ?? { begins: () => undefined };
		const redis = await redisServer();
		const { runs, times, arrived, stall } = await world(redis.url);
		const isKilled = name === "a run is killed";
		await Promise.all(runs.map((run) => run.until((_out, err) => err.includes("is shared"))));
		await expect.poll(arrived, { timeout: 60_000 }).toBeGreaterThan(150);
		await begins({ redis, runs });
		await expect.poll(arrived, { timeout: 60_000 }).toBeGreaterThan(350);
		await ends?.({ redis, runs });
		const ended = await Promise.all(runs.map((run) => run.ended));
		await arrived();
		for (const { exit, stdout, stderr } of isKilled ? ended.slice(1) : ended) {
			expect(exit).toBe(0);
			expect(summaryOf(stdout)).toMatchObject({ updated: ROWS, pending: 0, attempts: ROWS, limiter: { shared: true } });
			// Once: a Redis that is away is tried again all the time.
			if (words !== undefined) expect(stderr.split(words)).toHaveLength(2);
		}
		expect(mostInASecond(times)).toBeLessThanOrEqual(CAP * (1.05 + stall() / 1000));
	},
);
