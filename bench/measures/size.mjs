// How time and memory grow with the manifest.
import process from "node:process";
import { fileURLToPath } from "node:url";
import { watched } from "../watch.mjs";
import { DATASET, median, round } from "../world.mjs";
import { costs } from "./growth.mjs";

/** What a run holds, by the flags that make it. Before-images come from a list of the dataset, whose ids are held as well. */
const WAYS = [
	{ how: "", flags: ["--no-undo"] },
	{ how: ", with before-images", flags: [] },
];

export async function* memory(world, { isShort }) {
	const [few, many] = isShort ? [10_000, 100_000] : [10_000, 1_000_000];
	for (const { how, flags } of WAYS) {
		const runs = [];
		for (const rows of [few, many]) {
			const server = await world.server(rows);
			const state = `memory-${rows}${flags.join("")}`;
			const started = await world.startTag(server, rows, ["--rate", "unlimited", ...flags], { state });
			runs.push(await watched(started, server, world.path(state), isShort ? 50 : 500));
			await server.close();
		}
		const [small, large] = runs;
		const name = `${many.toLocaleString("en")} rows${how}`;
		const grown = ((large.peakMegabytes - small.peakMegabytes) * 1e6) / (many - few);
		yield { name: `${name}: bytes of memory a row above 10,000`, figure: round(grown, 0), goal: "<= 150" };
		yield { name: `${name}: peak memory, megabytes`, figure: round(large.peakMegabytes, 0), goal: "<= 250" };
		const cpu = large.cpuSeconds / many / (small.cpuSeconds / few);
		yield { name: `${name}: CPU a row against 10,000 rows`, figure: round(cpu), goal: "<= 1.1" };
		yield* costs(name, large, many);
	}
}

/** The check of a manifest against the parser alone, which is what others build on. */
export async function* check(world, { isShort }) {
	const rows = isShort ? 100_000 : 1_000_000;
	const path = await world.manifest(rows);
	const script = fileURLToPath(new URL("../csv-parse-alone.mjs", import.meta.url));
	const seen = { alone: [], check: [] };
	let peak = 0;
	for (let turn = 0; turn < 3; turn++) {
		seen.alone.push((await world.run(process.execPath, [script, path], { isNode: true })).seconds);
		const checked = await world.ragtag(undefined, ["manifest", "check", path, "-d", DATASET, "-q"]);
		seen.check.push(checked.seconds);
		peak = Math.max(peak, checked.peakMegabytes);
	}
	const name = `check of ${rows.toLocaleString("en")} rows`;
	yield {
		name: `${name}: speed against csv-parse alone`,
		figure: round(median(seen.alone) / median(seen.check)),
		goal: ">= 1",
	};
	yield { name: `${name}: peak memory, megabytes`, figure: round(peak, 0), goal: "<= 100" };
}
