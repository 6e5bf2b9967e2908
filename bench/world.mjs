// What the measures share: a folder, servers, manifests, processes on cores of their own, medians.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
/** The program that is measured: this checkout's, or another build for a comparison. */
export const PROGRAM = process.env.BENCH_PROGRAM ?? fileURLToPath(new URL("../dist/bin/ragtag.js", import.meta.url));
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

	/** @param folder an empty folder of the caller; without it a temporary one */
	static async open(folder) {
		const world = new World();
		if (folder !== undefined) await mkdir(folder, { recursive: true });
		world.folder = folder === undefined ? await mkdtemp(join(tmpdir(), "ragtag-bench-")) : resolve(folder);
		return world;
	}

	path(name) {
		return join(this.folder, name);
	}

	/** A server on the second core. Its members that are functions are its requests of these names. */
	async server(documents, { latency = 0, limit = 0, failing = 0, gate } = {}) {
		const args = [join(here, "instant-server.mjs"), documents, latency, limit, failing];
		if (gate !== undefined) args.push(JSON.stringify(gate));
		const child = this.#spawn(1, process.execPath, args.map(String), { stdio: ["ignore", "pipe", "inherit"] });
		this.#servers.push(child);
		const address = await new Promise((resolve, reject) => {
			child.stdout.once("data", (text) => resolve(String(text).trim()));
			child.once("exit", () => reject(new Error("the server did not start")));
		});
		const asked = (path) => async () => (await fetch(`${address}/${path}`)).json();
		return {
			address,
			pid: child.pid,
			arrivals: asked("arrivals"),
			requests: asked("requests"),
			counts: asked("counts"),
			updates: asked("updates"),
			forget: asked("forget"),
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
	run(command, args, options) {
		return this.start(command, args, options).ended;
	}

	/** Starts a program on the first core. @returns its process id, and a promise of what `run` gives; null after a kill */
	start(command, args, { env = {}, isNode = false, exits = [0], isRead = false } = {}) {
		const usage = this.path(`usage-${(this.#number += 1)}.json`);
		const flags = isNode ? ["--import", join(here, "usage.mjs")] : [];
		const inherited = { ...process.env, BENCH_USAGE: usage, ...env };
		// It costs 35 ms at every start of Node, and nothing here speaks TLS.
		delete inherited.NODE_EXTRA_CA_CERTS;
		const started = performance.now();
		const child = this.#spawn(0, command, [...flags, ...args.map(String)], {
			env: inherited,
			stdio: ["ignore", isRead ? "pipe" : "ignore", "pipe"],
		});
		let [errors, output] = ["", ""];
		child.stderr.on("data", (text) => (errors = (errors + text).slice(-2000)));
		child.stdout?.on("data", (text) => (output += text));
		const end = async () => {
			const [code, signal] = await once(child, "close");
			const seconds = (performance.now() - started) / 1000;
			if (signal === "SIGKILL") return null;
			if (!exits.includes(code)) throw new Error(`${command} ${args.join(" ")} ended with ${code}: ${errors}`);
			return { seconds, output, ...(isNode ? JSON.parse(await readFile(usage, "utf8")) : {}) };
		};
		return { pid: child.pid, kill: () => child.kill("SIGKILL"), ended: end() };
	}

	/** `ragtag` with a state folder of its own, or the one of that name */
	ragtag(server, args, options) {
		return this.startRagtag(server, args, options).ended;
	}

	/** The same, started: see `start`. */
	startRagtag(server, args, { state = `state-${(this.#number += 1)}`, exits, isRead } = {}) {
		const env = {
			RAGTAG_BASE_URL: server?.address ?? "",
			RAGTAG_API_KEY: "bench-0000000000000000",
			RAGTAG_STATE_DIR: this.path(state),
		};
		return this.start(process.execPath, [PROGRAM, ...args], { env, isNode: true, exits, isRead });
	}

	/** `docs tag` of a manifest of that many rows */
	async tag(server, rows, args = [], options = {}) {
		return (await this.startTag(server, rows, args, options)).ended;
	}

	/** The same, started: see `start`. */
	async startTag(server, rows, args = [], options = {}) {
		// A value of its own for each run: a row that changes nothing is treated in another way.
		const set = `run=${this.#number}`;
		const argv = ["docs", "tag", await this.manifest(rows), "-d", DATASET, "-q", "--set", set, ...args];
		return this.startRagtag(server, argv, options);
	}

	async close(keep = false) {
		await Promise.all(this.#servers.map(stop));
		if (keep) return;
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
