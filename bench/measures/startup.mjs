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
	yield { name: "docs tag of one row against node -e 0", figure: ratio("one row"), goal: "<= 5" };
	await server.close();
}
