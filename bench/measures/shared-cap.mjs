// Whether several processes hold one cap together over a Redis, by the clock of the server, and how much of it they use.
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "../redis.mjs";
import { isInstalled, round } from "../world.mjs";
import { most, pace, STALL } from "./pace.mjs";

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
		const { share, mostInSecond, stall } = isMeasured
			? await measure(world, { processes, cap, rows: cap * seconds })
			: {};
		const why = "redis-server is not installed";
		const name = `cap ${cap}/s shared by ${processes} processes`;
		yield { name: `${name}: share of the cap`, figure: share, goal: ">= 0.97", why };
		yield { name: `${name}: most in any second against the cap`, figure: mostInSecond, goal: "<= 1.05", why };
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
		return { stall: round(stall, 0), share: round(sustained / cap, 3), mostInSecond: round(inSecond / cap, 3) };
	} finally {
		await server.close();
		await redis.close();
	}
}

const WHY = "redis-server is not installed";
const FAULTS_CAP = 100;
const PROCESSES = 3;

/** What happens to three processes, or to their Redis: it begins, and it ends. */
const FAULTS = {
	nothing: { begins: () => undefined },
	"a process is killed": { begins: ({ runs }) => runs[0].kill() },
	"a process is frozen": {
		begins: ({ runs }) => process.kill(runs[0].pid, "SIGSTOP"),
		ends: ({ runs }) => process.kill(runs[0].pid, "SIGCONT"),
	},
	"Redis is away, and comes back empty": { begins: ({ redis }) => redis.stop(), ends: ({ redis }) => redis.start() },
	"Redis is restarted at once": {
		begins: async ({ redis }) => {
			await redis.stop();
			await redis.start();
		},
	},
	"Redis is emptied eight times": {
		begins: async ({ redis }) => {
			for (let times = 0; times < 8; times++) {
				await redis.say("FLUSHALL");
				await sleep(150);
			}
		},
	},
	"Redis is full": {
		begins: ({ redis }) => redis.say("CONFIG SET maxmemory 1"),
		ends: ({ redis }) => redis.say("CONFIG SET maxmemory 0"),
	},
	"Redis is read-only": {
		begins: ({ redis }) => redis.say("REPLICAOF 127.0.0.1 1"),
		ends: ({ redis }) => redis.say("REPLICAOF NO ONE"),
	},
	"the key is of another type": {
		begins: async ({ redis }) => {
			await redis.say(`DEL ${await keyOf(redis)}\r\nSET ${await keyOf(redis)} other`);
		},
		ends: ({ redis }) => redis.say("FLUSHALL"),
	},
	"the script is forgotten": { begins: ({ redis }) => redis.say("SCRIPT FLUSH") },
};

async function keyOf(redis) {
	return /ragtag:limiter:\w+/.exec(await redis.say("KEYS *"))[0];
}

/** Three processes under one cap while something goes wrong: what they send together, by the clock of the server. */
export async function* sharedFaults(world, { isShort }) {
	const seconds = isShort ? 5 : 10;
	for (const [name, fault] of Object.entries(FAULTS)) {
		const seen = isInstalled("redis-server") ? await faulty(world, fault, seconds) : {};
		const at = `cap ${FAULTS_CAP}/s shared by ${PROCESSES} processes, ${name}`;
		yield { name: `${at}: share of the cap meanwhile`, figure: seen.meanwhile, goal: ">= 0.97", why: WHY };
		yield { name: `${at}: share of the cap after it`, figure: seen.after, goal: ">= 0.97", why: WHY };
		yield { name: `${at}: most in any second against the cap`, figure: seen.most, goal: "<= 1.05", why: WHY };
		yield { name: `${at}: ${STALL}`, figure: seen.stall, why: WHY };
	}
}

async function faulty(world, { begins, ends = async () => undefined }, seconds) {
	const redis = await startRedis();
	const rows = FAULTS_CAP * seconds * 4;
	await world.manifest(rows);
	const server = await world.server(rows, { latency: LATENCY });
	const flags = ["--no-undo", "--rate", FAULTS_CAP, "--limiter", redis.address];
	const runs = [];
	try {
		for (let shard = 1; shard <= PROCESSES; shard++) {
			runs.push(await world.startTag(server, rows, [...flags, "--shard", `${shard}/${PROCESSES}`]));
		}
		const [parts, stalls] = [[], []];
		const sent = async () => {
			const { arrivals, stall } = await server.arrivals();
			parts.push(arrivals);
			stalls.push(stall);
			return arrivals;
		};
		await sleep(5_000);
		await sent();
		await begins({ redis, runs });
		await sleep(seconds * 1000);
		const meanwhile = shareOf(await sent());
		await ends({ redis, runs });
		await sleep(seconds * 1000);
		const after = shareOf(await sent());
		const stall = round(Math.max(...stalls), 0);
		return { meanwhile, after, stall, most: round(most(parts.flat(), 1_000) / FAULTS_CAP, 3) };
	} finally {
		for (const run of runs) run.kill();
		await Promise.all(runs.map((run) => run.ended));
		await server.close();
		await redis.close();
	}
}

function shareOf(arrivals) {
	return round(((arrivals.length - 1) * 1000) / (arrivals.at(-1) - arrivals[0]) / FAULTS_CAP, 3);
}
