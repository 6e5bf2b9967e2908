// What the measures share: a folder, servers, manifests, processes on cores of their own, medians.
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
export const PROGRAM = fileURLToPath(new URL("../dist/bin/ragtag.js", import.meta.url));
export const DATASET = "00000000000000000000000000000007";

export const median = (values) => values.toSorted((left, right) => left - right)[(values.length - 1) >> 1];
export const round = (value, digits = 2) => Number(value.toFixed(digits));

export function isInstalled(program, ...args) {
	try {
		execFileSync(program, args.length === 0 ? ["--version"] : args, { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

/** The folder of one run of the bench. Everything that it starts and writes ends with `close`. */
export class World {
	#servers = [];
	#number = 0;
	#cores = availableParallelism() > 1 && process.platform === "linux" && isInstalled("taskset");

	static async open() {
		const world = new World();
		world.folder = await mkdtemp(join(tmpdir(), "ragtag-bench-"));
		return world;
	}

	path(name) {
		return join(this.folder, name);
	}

	/** A server on the second core. `arrivals` gives what it saw since it was asked last. */
	async server(documents, { latency = 0, limit = 0, failing = 0 } = {}) {
		const args = [join(here, "instant-server.mjs"), documents, latency, limit, failing];
		const child = this.#spawn(1, process.execPath, args.map(String), { stdio: ["ignore", "pipe", "inherit"] });
		this.#servers.push(child);
		const address = await new Promise((resolve, reject) => {
			child.stdout.once("data", (text) => resolve(String(text).trim()));
			child.once("exit", () => reject(new Error("the server did not start")));
		});
		return {
			address,
			arrivals: async () => (await fetch(`${address}/arrivals`)).json(),
			close: () => stop(child),
		};
	}

	/** A manifest of that many rows, made once. */
	async manifest(rows) {
		const path = this.path(`${rows}.csv`);
		this.#manifests ??= new Map();
		this.#manifests.set(rows, this.#manifests.get(rows) ?? writeManifest(path, rows));
		await this.#manifests.get(rows);
		return path;
	}
	#manifests;

	/** Runs a program to its end on the first core. Seconds are of the clock; CPU and memory only of Node. */
	async run(command, args, { env = {}, isNode = false, exits = [0] } = {}) {
		const usage = this.path(`usage-${(this.#number += 1)}.json`);
		const flags = isNode ? ["--import", join(here, "usage.mjs")] : [];
		const inherited = { ...process.env, BENCH_USAGE: usage, ...env };
		// It costs 35 ms at every start of Node, and nothing here speaks TLS.
		delete inherited.NODE_EXTRA_CA_CERTS;
		const started = performance.now();
		const child = this.#spawn(0, command, [...flags, ...args.map(String)], {
			env: inherited,
			stdio: ["ignore", "ignore", "pipe"],
		});
		let errors = "";
		child.stderr.on("data", (text) => (errors = (errors + text).slice(-2000)));
		const code = await new Promise((resolve) => child.once("close", resolve));
		const seconds = (performance.now() - started) / 1000;
		if (!exits.includes(code)) throw new Error(`${command} ${args.join(" ")} ended with ${code}: ${errors}`);
		return { seconds, ...(isNode ? JSON.parse(await readFile(usage, "utf8")) : {}) };
	}

	/** `ragtag` with a state folder of its own; `-q`, so that nothing is drawn */
	ragtag(server, args, { keep = false, exits } = {}) {
		this.#number += keep ? 0 : 1;
		const env = {
			RAGTAG_BASE_URL: server?.address ?? "",
			RAGTAG_API_KEY: "bench-0000000000000000",
			RAGTAG_STATE_DIR: this.path(keep ? "kept-state" : `state-${this.#number}`),
		};
		return this.run(process.execPath, [PROGRAM, ...args], { env, isNode: true, exits });
	}

	/** `docs tag` of a manifest of that many rows */
	async tag(server, rows, args = []) {
		// A value of its own for each run: a row that changes nothing is treated in another way.
		const set = `run=${this.#number}`;
		return this.ragtag(server, ["docs", "tag", await this.manifest(rows), "-d", DATASET, "-q", "--set", set, ...args]);
	}

	async close() {
		await Promise.all(this.#servers.map(stop));
		await rm(this.folder, { recursive: true, force: true });
	}

	#spawn(core, command, args, options) {
		if (!this.#cores) return spawn(command, args, options);
		return spawn("taskset", ["-c", String(core), command, ...args], options);
	}
}

async function stop(child) {
	if (child.exitCode !== null || child.signalCode !== null) return;
	await new Promise((resolve) => {
		child.once("exit", resolve);
		child.kill();
	});
}

function writeManifest(path, rows) {
	return pipeline(function* () {
		yield "document_id,author,year:number,topic,category,url\n";
		for (let row = 1; row <= rows; row += 1000) {
			let text = "";
			for (let at = row; at < row + 1000 && at <= rows; at++) {
				const id = at.toString(16).padStart(32, "0");
				text += `${id},Ada Lovelace,${1800 + (at % 200)},engine ${at},history,https://example.com/${at}\n`;
			}
			yield text;
		}
	}, createWriteStream(path));
}
