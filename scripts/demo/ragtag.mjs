// Runs the built program as a shell would.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../dist/bin/ragtag.js", import.meta.url));
/** 20 s for the sandbox to say its address. */
const START_MS = 20_000;

const running = new Set();

// The program ends first, then this script cleans up: so a signal is passed on, and not the end by itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
	process.on(signal, () => {
		for (const child of running) child.kill(signal);
	});
}

function start(args, { cwd, env = {}, stderr = "inherit" }) {
	const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RAGTAG_")));
	const child = spawn(process.execPath, [PROGRAM, ...args], {
		cwd,
		env: { ...own, ...env },
		stdio: ["ignore", "pipe", stderr],
	});
	running.add(child);
	const ended = new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => {
			running.delete(child);
			resolve(code ?? signal);
		});
	});
	// Whoever waits is told; nobody waiting is no fault of its own.
	ended.catch(() => undefined);
	return { child, ended };
}

/** Runs one command to its end and gives what it printed. Anything but exit code 0 ends the demo. */
export async function ragtag(args, options) {
	const words = args.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
	console.log(`$ ragtag ${words.join(" ")}${options.into === undefined ? "" : ` > ${options.into}`}`);
	const { child, ended } = start(args, options);
	const [printed, code] = await Promise.all([text(child.stdout), ended]);
	if (code !== 0) throw new Error(`ragtag ${args.slice(0, 2).join(" ")} ended with ${code}`);
	return printed;
}

/** Starts a sandbox over a file, and waits for the address and key that it prints. */
export async function startSandbox(folder) {
	const logPath = `${folder}/sandbox.log`;
	const log = createWriteStream(logPath);
	const args = ["sandbox", "--port", "0", "--data", "db"];
	console.log(`$ ragtag ${args.join(" ")} &`);
	const { child, ended } = start(args, { cwd: folder, stderr: "pipe" });
	child.stderr.pipe(log);
	const lastLines = async () => (await readFile(logPath, "utf8").catch(() => "")).split("\n").slice(-21).join("\n");
	const stop = async () => {
		child.kill("SIGTERM");
		await ended;
	};
	try {
		const lines = [];
		const printed = createInterface({ input: child.stdout });
		await new Promise((resolve, reject) => {
			const late = setTimeout(() => reject(new Error("the sandbox said no address")), START_MS);
			printed.on("line", (line) => {
				lines.push(line);
				if (lines.length < 2) return;
				clearTimeout(late);
				resolve();
			});
			ended.then((code) => {
				clearTimeout(late);
				reject(new Error(`the sandbox ended with ${code}`));
			}, reject);
		});
		const key = /^export RAGTAG_API_KEY='?([^']+)'?$/.exec(lines[1] ?? "")?.[1];
		if (key === undefined) throw new Error("the sandbox printed no key");
		return { env: { RAGTAG_BASE_URL: lines[0], RAGTAG_API_KEY: key }, lastLines, stop };
	} catch (error) {
		await stop();
		console.error(await lastLines());
		throw error;
	}
}
