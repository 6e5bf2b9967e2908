// Updates without a cap, all safety on, against the client under it and against other tools. They take turns.
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { DATASET, isInstalled, median, round } from "../world.mjs";

const rawLoop = fileURLToPath(new URL("../raw-loop.mjs", import.meta.url));
const IN_FLIGHT = 32;

/** Of fewer rows the start and V8's first compilations would hide what a row costs. */
const ROWS = 50_000;

/** Shares of the rows that slow ways get: a Python session sends 2,000 a second. Their times are those of all rows. */
const CURL_SHARE = 0.2;
const PYTHON_SHARE = 0.04;

const PYTHON = `import requests, sys
address, rows = sys.argv[1], int(sys.argv[2])
session = requests.Session()
session.headers["authorization"] = "Bearer bench-0000000000000000"
for row in range(1, rows + 1):
    answer = session.put(f"{address}/api/v1/datasets/${DATASET}/documents/{row:032x}", json={"meta_fields": {"author": "Ada Lovelace", "topic": f"engine {row}"}})
    assert answer.json()["code"] == 0
`;

export async function* uncapped(world, { isShort }) {
	const rows = ROWS;
	const rounds = isShort ? 3 : 5;
	const server = await world.server(rows);
	const scaled = async (share, run) => ({ seconds: (await run).seconds / share });
	const flags = ["--rate", "unlimited"];
	const ways = {
		raw: async () => await world.run(process.execPath, [rawLoop, server.address, rows, IN_FLIGHT], { isNode: true }),
		"no-undo": () => world.tag(server, rows, [...flags, "--no-undo"]),
		undo: () => world.tag(server, rows, flags),
	};
	if (isInstalled("curl")) {
		const config = await curlConfig(world, server, rows * CURL_SHARE);
		const args = ["--parallel", "--parallel-max", "16", "--silent", "--output", "/dev/null", "--config", config];
		ways.curl = () => scaled(CURL_SHARE, world.run("curl", args));
	}
	if (isInstalled("python3", "-c", "import requests")) {
		const script = world.path("session.py");
		await writeFile(script, PYTHON);
		const args = [script, server.address, rows * PYTHON_SHARE];
		ways.python = () => scaled(PYTHON_SHARE, world.run("python3", args));
	}
	const seen = {};
	for (let turn = 0; turn < rounds; turn++) {
		for (const [name, way] of Object.entries(ways)) {
			seen[name] ??= [];
			seen[name].push(await way());
			await server.arrivals();
		}
	}
	const seconds = (name) => median(seen[name].map((each) => each.seconds));
	const cpu = (name) => median(seen[name].map((each) => each.cpuSeconds));
	for (const [name, what, speed, cpuGoal] of [
		["no-undo", "no cap", ">= 0.55", "<= 1.7"],
		["undo", "no cap, with before-images", ">= 0.42", "<= 2.3"],
	]) {
		const figure = round(seconds("raw") / seconds(name));
		yield { name: `${what}: speed against a raw Pool.request loop`, figure, goal: speed };
		yield { name: `${what}: CPU a row against the raw loop`, figure: round(cpu(name) / cpu("raw")), goal: cpuGoal };
	}
	yield { name: "no cap: CPU microseconds a row", figure: round((cpu("no-undo") * 1e6) / rows, 0) };
	const than = (name, digits) =>
		seen[name] === undefined ? {} : { figure: round(seconds(name) / seconds("no-undo"), digits) };
	yield { name: "no cap: speed against curl --parallel", ...than("curl", 2), why: "curl is not installed" };
	const why = "Python's requests is not installed";
	yield { name: "no cap: speed against a Python session", ...than("python", 1), why };
	await server.close();
}

/** One transfer a row, as curl reads them from a file. */
async function curlConfig(world, { address }, rows) {
	const transfers = Array.from({ length: rows }, (_, at) => {
		const id = (at + 1).toString(16).padStart(32, "0");
		const lines = [
			`url = "${address}/api/v1/datasets/${DATASET}/documents/${id}"`,
			'request = "PUT"',
			'header = "authorization: Bearer bench-0000000000000000"',
			'header = "content-type: application/json"',
			`data = "{\\"meta_fields\\":{\\"author\\":\\"Ada Lovelace\\",\\"topic\\":\\"engine ${at + 1}\\"}}"`,
			'output = "/dev/null"',
		];
		return lines.join("\n");
	});
	const path = world.path("curl.txt");
	await writeFile(path, `${transfers.join("\nnext\n")}\n`);
	return path;
}
