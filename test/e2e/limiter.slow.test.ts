import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { hasRedis, redisServer, withoutRedis } from "../support/redis.ts";
import { start } from "../support/program.ts";
import { file, folder, KEY } from "../support/service.ts";
import { at, items, parse, summaryOf } from "../support/values.ts";

const SERVER = fileURLToPath(new URL("../../bench/instant-server.mjs", import.meta.url));
const CAP = 100;
const DATASET = "1".padStart(32, "0");

/** A service that notes when each request arrived, and runs that write so many rows each under one cap. */
async function world(processes: number, rows: number, redis: string) {
	const child: ChildProcess = spawn(process.execPath, [SERVER, "100000", "5"], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => void child.kill());
	const url = await new Promise<string>((resolve) => {
		child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().split("\n")[0] ?? ""));
	});
	const env = { RAGTAG_BASE_URL: url, RAGTAG_API_KEY: KEY, RAGTAG_STATE_DIR: await folder(), RAGTAG_LIMITER: redis };
	const runs = [];
	for (let index = 0; index < processes; index++) {
		const ids = Array.from({ length: rows }, (_, row) => (index * rows + row + 1).toString(16).padStart(32, "0"));
		const manifest = await file("tags.csv", `document_id,author\n${ids.map((id) => `${id},Ann\n`).join("")}`);
		runs.push(start(["docs", "tag", manifest, "-d", DATASET, "--rate", String(CAP), "--no-undo", "--json"], env));
	}
	const arrivals = async (): Promise<number[]> => {
		const body = parse(await (await fetch(`${url}/arrivals`)).text());
		return items(at(body, "arrivals")).map(Number);
	};
	return { runs, arrivals };
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

/**
 * The cap, and what arrives late: requests that a busy machine holds back arrive in the second of the next ones. Runs that
 * do not share would send up to 200 and 800.
 */
const AT_MOST = CAP * 1.3;

it.skipIf(!hasRedis).each([
	[2, 300],
	[8, 75],
])(
	`%i processes share one cap, and no row is lost${withoutRedis}`,
	async (processes, rows) => {
		const { url } = await redisServer();
		const { runs, arrivals } = await world(processes, rows, url);
		const ended = await Promise.all(runs.map((run) => run.ended));
		for (const { exit, stdout } of ended) {
			expect(exit).toBe(0);
			expect(summaryOf(stdout)).toMatchObject({ updated: rows, pending: 0, limiter: { shared: true } });
		}
		const times = (await arrivals()).toSorted((one, other) => one - other);
		expect(times.length).toBeGreaterThanOrEqual(processes * rows);
		expect(mostInASecond(times)).toBeLessThanOrEqual(AT_MOST);
		// One process alone could send no more than its share if the cap were divided, not shared.
		expect(mostInASecond(times)).toBeGreaterThan(CAP * 0.6);
	},
	120_000,
);

it.skipIf(!hasRedis).each([
	["comes back", true],
	["stays away", false],
])(
	`no row is lost or written twice where Redis is killed and %s${withoutRedis}`,
	async (_name, comesBack) => {
		const redis = await redisServer();
		const rows = comesBack ? 500 : 250;
		const { runs, arrivals } = await world(2, rows, redis.url);
		await Promise.all(runs.map((run) => run.until((_out, err) => err.includes("is shared"))));
		const early: number[] = [];
		const sent = async (): Promise<number> => early.push(...(await arrivals()));
		await expect.poll(sent, { timeout: 60_000 }).toBeGreaterThan(100);
		await redis.stop();
		await Promise.all(runs.map((run) => run.until((_out, err) => err.includes("at its share, 50 of 100"))));
		if (comesBack) {
			await redis.start();
			await Promise.all(runs.map((run) => run.until((_out, err) => err.includes("the cap is shared again"))));
		}
		for (const { exit, stdout, stderr } of await Promise.all(runs.map((run) => run.ended))) {
			expect(exit).toBe(0);
			const summary = summaryOf(stdout);
			expect(summary).toMatchObject({ updated: rows, pending: 0, attempts: rows, limiter: { shared: true } });
			expect(Number(at(at(summary, "limiter"), "away_seconds"))).toBeGreaterThan(0);
			expect(stderr.split("does not answer")).toHaveLength(2);
		}
		const times = [...early, ...(await arrivals())].toSorted((one, other) => one - other);
		expect(mostInASecond(times)).toBeLessThanOrEqual(AT_MOST);
	},
	120_000,
);
