// How long a list of many recorded runs takes.
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { median, round } from "../world.mjs";

const RUNS = 1_000;
const ROWS = 1_000;

export async function* runsList(world, { isShort }) {
	const server = await world.server(ROWS);
	await world.tag(server, ROWS, ["--rate", "unlimited"], { state: "listed" });
	await copyRun(world.path("listed/runs"));
	const seconds = [];
	for (let turn = 0; turn < (isShort ? 3 : 9); turn++) {
		const { seconds: took, output } = await world.ragtag(server, ["runs", "list", "--json"], {
			state: "listed",
			isRead: true,
		});
		const listed = output.trimEnd().split("\n");
		if (listed.length !== RUNS || listed.some((line) => JSON.parse(line).done !== ROWS)) {
			throw new Error(`runs list shows ${listed.length} of ${RUNS} runs, or not all rows of them`);
		}
		seconds.push(took);
	}
	await server.close();
	const name = `runs list, ${RUNS.toLocaleString("en")} runs of ${ROWS.toLocaleString("en")} rows: seconds`;
	yield { name, figure: round(median(seconds)), goal: "< 1" };
}

/** Copies the one run of a folder under other names: to make a thousand runs would take minutes. */
async function copyRun(folder) {
	const [run] = (await readdir(folder)).filter((name) => /^\d/.test(name));
	const file = JSON.parse(await readFile(join(folder, run, "run.json"), "utf8"));
	for (let number = 1; number < RUNS; number++) {
		const name = `20000101T000000-${number.toString(16).padStart(6, "0")}`;
		await cp(join(folder, run), join(folder, name), { recursive: true, preserveTimestamps: true });
		await writeFile(join(folder, name, "run.json"), JSON.stringify({ ...file, run: name }), { mode: 0o600 });
	}
}
