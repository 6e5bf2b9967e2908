// How exactly a cap is held and used, by the clock of the server, and how few requests in flight suffice.
import { round } from "../world.mjs";

/** Every 20th update fails once, so that retries are in the count. */
const FAILING = 20;

/** What came while the server stood still counts together, later than it was sent: 10 ms are 1 % of a second. */
export const STALL = "milliseconds for which the server itself stood still at most";

/**
 * Requests a second from the fifth second on, until as many came as there are rows: after that only retries are left. And the
 * most in any second and in any tenth of a second, over the whole run.
 */
export function pace(arrivals, rows = arrivals.length) {
	const [first = 0] = arrivals;
	const later = arrivals.slice(0, rows).filter((time) => time >= first + 5_000);
	const [from = 0, to = 0] = [later[0], later.at(-1)];
	return {
		sustained: ((later.length - 1) * 1000) / (to - from),
		inSecond: most(arrivals, 1_000),
		inTenth: most(arrivals, 100),
	};
}

/** The most of these times within any window of so many milliseconds. */
export function most(arrivals, window) {
	let [largest, start] = [0, 0];
	for (let end = 0; end < arrivals.length; end++) {
		while (arrivals[end] - arrivals[start] >= window) start += 1;
		largest = Math.max(largest, end - start + 1);
	}
	return largest;
}

/** One run under a cap. @param cap requests a second; undefined for the default of 100 */
async function capped(world, { rows, latency, failing = 0, cap }) {
	const server = await world.server(rows, { latency, failing });
	const used = await world.tag(server, rows, ["--no-undo", ...(cap === undefined ? [] : ["--rate", cap])]);
	const { arrivals, mostInFlight, stall } = await server.arrivals();
	await server.close();
	return { ...pace(arrivals, rows), mostInFlight, stall, cpu: used.cpuSeconds / used.seconds };
}

/** Latencies in milliseconds, and whether some updates fail. */
function conditions(isShort) {
	if (isShort) return [{ latency: 50, failing: FAILING }];
	return [5, 50, 300].flatMap((latency) => [{ latency }, { latency, failing: FAILING }]);
}

function conditionText({ latency, failing }) {
	return `at ${latency} ms${failing === undefined ? "" : " with retries"}`;
}

export async function* capOf100(world, { isShort }) {
	const rows = isShort ? 1_000 : 2_500;
	for (const condition of conditions(isShort)) {
		const { sustained, inSecond, inTenth, stall } = await capped(world, { rows, ...condition });
		const at = `cap 100/s ${conditionText(condition)}`;
		yield { name: `${at}: requests a second from the fifth second on`, figure: round(sustained, 1), goal: ">= 99" };
		yield { name: `${at}: most in any second`, figure: inSecond, goal: "<= 105" };
		yield { name: `${at}: most in 100 ms`, figure: inTenth, goal: "<= 20" };
		yield { name: `${at}: ${STALL}`, figure: round(stall, 0) };
	}
}

export async function* capOf1000(world, { isShort }) {
	const cap = 1_000;
	const rows = cap * (isShort ? 8 : 12);
	for (const condition of conditions(isShort)) {
		const { sustained, inSecond, mostInFlight, stall, cpu } = await capped(world, { rows, cap, ...condition });
		const at = `cap ${cap}/s ${conditionText(condition)}`;
		yield { name: `${at}: share of the cap`, figure: round(sustained / cap, 3), goal: ">= 0.99" };
		yield { name: `${at}: most in any second against the cap`, figure: round(inSecond / cap, 3), goal: "<= 1.05" };
		yield { name: `${at}: ${STALL}`, figure: round(stall, 0) };
		yield { name: `${at}: most requests in flight`, figure: mostInFlight };
		yield { name: `${at}: share of a core that the client used`, figure: round(cpu) };
	}
}

/** A service that takes 150 updates a second at any concurrency: more in flight only waits. */
export async function* leastConcurrency(world, { isShort }) {
	const limit = 150;
	const rows = limit * (isShort ? 10 : 40);
	const server = await world.server(rows, { latency: 5, limit });
	await world.tag(server, rows, ["--no-undo", "--rate", "unlimited"]);
	const { arrivals, mostInFlight } = await server.arrivals();
	const { sustained } = pace(arrivals);
	yield { name: "a service that takes 150/s: share of its best", figure: round(sustained / limit, 3), goal: ">= 0.97" };
	yield { name: "a service that takes 150/s: most requests in flight", figure: mostInFlight, goal: "<= 8" };
	await server.close();
}
