// Whether several processes hold one cap together over a Redis, by the clock of the server, and how much of it they use.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { isInstalled, round } from "../world.mjs";
import { pace, STALL } from "./pace.mjs";

/** Each of two halves of one manifest, or eight parts of it; the cap that all share; seconds that the rows take at it. */
const CASES = [
	{ processes: 2, cap: 100, seconds: 20 },
	{ processes: 8, cap: 100, seconds: 20 },
	{ processes: 2, cap: 1_000, seconds: 15 },
];
const SHORT_CASES = [
	{ processes: 2, cap: 100, seconds: 10 },
	{ processes: 2, cap: 1_000, seconds: 8 },
];

/** Milliseconds of one answer: a service in the same region. */
const LATENCY = 50;

export async function* sharedCap(world, { isShort }) {
	const isMeasured = isInstalled("redis-server");
	for (const { processes, cap, seconds } of isShort ? SHORT_CASES : CASES) {
		const { share, most, stall } = isMeasured ? await measure(world, { processes, cap, rows: cap * seconds }) : {};
		const why = "redis-server is not installed";
		const name = `cap ${cap}/s shared by ${processes} processes`;
		yield { name: `${name}: share of the cap`, figure: share, goal: ">= 0.98", why };
		yield { name: `${name}: most in any second against the cap`, figure: most, goal: "<= 1.01", why };
		yield { name: `${name}: ${STALL}`, figure: stall, why };
	}
}

async function measure(world, { processes, cap, rows }) {
	const redis = await startRedis();
	const server = await world.server(rows, { latency: LATENCY });
	try {
		// One after the other would let the first run alone for seconds.
		const shards = Array.from({ length: processes }, (_, index) => `${index + 1}/${processes}`);
		const flags = ["--no-undo", "--rate", cap, "--limiter", redis.address];
		await Promise.all(shards.map((shard) => world.tag(server, rows, [...flags, "--shard", shard])));
		const { arrivals, stall } = await server.arrivals();
		const { sustained, inSecond } = pace(arrivals);
		return { stall: round(stall, 0), share: round(sustained / cap, 3), most: round(inSecond / cap, 3) };
	} finally {
		await server.close();
		await redis.close();
	}
}

/** A Redis that keeps nothing, at a free port of this machine. */
async function startRedis() {
	const port = await freePort();
	const flags = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
	const child = spawn("redis-server", flags.map(String), { stdio: ["ignore", "pipe", "inherit"] });
	await new Promise((resolve, reject) => {
		child.stdout.on("data", (text) => String(text).includes("Ready to accept connections") && resolve());
		child.once("exit", () => reject(new Error("redis-server did not start")));
	});
	return {
		address: `redis://127.0.0.1:${port}`,
		close: () =>
			new Promise((resolve) => {
				child.once("exit", resolve);
				child.kill();
			}),
	};
}

async function freePort() {
	const server = createServer();
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address();
	await new Promise((resolve) => server.close(resolve));
	return port;
}
