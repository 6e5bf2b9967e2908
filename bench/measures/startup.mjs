// How long the program takes to start, against Node that starts and ends.
import process from "node:process";
import { median, PROGRAM, round } from "../world.mjs";

export async function* startup(world, { isShort }) {
	const rounds = isShort ? 15 : 40;
	const server = await world.server(1);
	const env = {
		RAGTAG_BASE_URL: server.address,
		RAGTAG_API_KEY: "bench-0000000000000000",
		RAGTAG_STATE_DIR: world.path("startup-state"),
	};
	const manifest = await world.manifest(1);
	const tag = ["docs", "tag", manifest, "-d", "00000000000000000000000000000007", "-q"];
	const ways = {
		node: ["-e", "0"],
		version: [PROGRAM, "--version"],
		help: [PROGRAM, "--help"],
		"one row": [PROGRAM, ...tag],
	};
	const seen = {};
	for (let turn = 0; turn < rounds; turn++) {
		for (const [name, args] of Object.entries(ways)) {
			const more = name === "one row" ? ["--set", `turn=${turn}`] : [];
			seen[name] ??= [];
			seen[name].push((await world.run(process.execPath, [...args, ...more], { env })).seconds);
		}
	}
	const ratio = (name) => round(median(seen[name]) / median(seen.node));
	yield { name: "--version against node -e 0", figure: ratio("version"), goal: "<= 1.6" };
	yield { name: "--help against node -e 0", figure: ratio("help"), goal: "<= 1.6" };
	yield { name: "docs tag of one row against node -e 0", figure: ratio("one row"), goal: "<= 4" };
	await server.close();
}

/** A run that was stopped near its end: how soon the rest is sent. */
export async function* resume(world, { isShort }) {
	const rows = isShort ? 50_000 : 1_000_000;
	const server = await world.server(rows);
	const argv = ["docs", "tag", await world.manifest(rows), "-d", "00000000000000000000000000000007", "-q"];
	const flags = ["--rate", "unlimited", "--no-undo"];
	const whole = await world.ragtag(server, [...argv, ...flags, "--set", "whole=1"]);
	const seconds = Math.max(1, whole.seconds * 0.9);
	const cut = ["--max-duration", `${Math.round(seconds * 1000)}ms`];
	await world.ragtag(server, [...argv, ...flags, "--set", "cut=1", ...cut], { keep: true, exits: [0, 9] });
	await server.arrivals();
	const before = performance.now();
	const running = world.ragtag(server, ["runs", "resume", "-q"], { keep: true, exits: [0, 2] });
	let first;
	for (;;) {
		const { arrivals } = await server.arrivals();
		if (arrivals.length > 0) {
			first = performance.now() - before;
			break;
		}
		if ((await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 5))])) !== undefined) break;
	}
	await running;
	const figure = first === undefined ? undefined : round(first / 1000 / whole.seconds, 3);
	const name = `resume of ${rows.toLocaleString("en")} rows: time to its first request against the whole run`;
	yield { name, figure, goal: "<= 0.1" };
	await server.close();
}
