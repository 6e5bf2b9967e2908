// How exactly a cap is held and used, by the clock of the server, and how few requests in flight suffice.
import { round } from "../world.mjs";

/** Requests from the fifth second on a second, and the most in any second and in any tenth of a second. */
export function pace(arrivals) {
	const [first = 0] = arrivals;
	const later = arrivals.filter((time) => time >= first + 5_000);
	const [from = 0, to = 0] = [later[0], later.at(-1)];
	return {
		sustained: ((later.length - 1) * 1000) / (to - from),
		inSecond: most(arrivals, 1_000),
		inTenth: most(arrivals, 100),
	};
}

function most(arrivals, window) {
	let [largest, start] = [0, 0];
	for (let end = 0; end < arrivals.length; end++) {
		while (arrivals[end] - arrivals[start] >= window) start += 1;
		largest = Math.max(largest, end - start + 1);
	}
	return largest;
}

export async function* capOf100(world, { isShort }) {
	const rows = isShort ? 1_200 : 2_500;
	for (const latency of isShort ? [50] : [5, 50, 300]) {
		const server = await world.server(rows, { latency });
		await world.tag(server, rows, ["--no-undo"]);
		const { sustained, inSecond, inTenth } = pace((await server.arrivals()).arrivals);
		const at = `cap 100/s at ${latency} ms`;
		yield { name: `${at}: requests a second from the fifth second on`, figure: round(sustained, 1), goal: ">= 99" };
		yield { name: `${at}: most in any second`, figure: inSecond, goal: "<= 101" };
		yield { name: `${at}: most in 100 ms`, figure: inTenth, goal: "<= 20" };
		await server.close();
	}
}

export async function* largerCaps(world, { isShort }) {
	for (const cap of isShort ? [1_000] : [300, 1_000, 5_000]) {
		const rows = cap * (isShort ? 10 : 15);
		const server = await world.server(rows, { latency: 50 });
		await world.tag(server, rows, ["--no-undo", "--rate", cap]);
		const { sustained, inSecond } = pace((await server.arrivals()).arrivals);
		yield { name: `cap ${cap}/s at 50 ms: share of the cap`, figure: round(sustained / cap, 3), goal: ">= 0.98" };
		yield {
			name: `cap ${cap}/s at 50 ms: most in any second against the cap`,
			figure: round(inSecond / cap, 3),
			goal: "<= 1.01",
		};
		await server.close();
	}
}

/** A service that takes 150 updates a second at any concurrency: more in flight only waits. */
export async function* leastConcurrency(world, { isShort }) {
	const limit = 150;
	const rows = limit * (isShort ? 15 : 40);
	const server = await world.server(rows, { latency: 5, limit });
	await world.tag(server, rows, ["--no-undo", "--rate", "unlimited"]);
	const { arrivals, mostInFlight } = await server.arrivals();
	const { sustained } = pace(arrivals);
	yield { name: "a service that takes 150/s: share of its best", figure: round(sustained / limit, 3), goal: ">= 0.95" };
	yield { name: "a service that takes 150/s: most requests in flight", figure: mostInFlight, goal: "<= 8" };
	await server.close();
}
