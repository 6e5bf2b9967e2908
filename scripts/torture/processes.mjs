// The built program as processes of its own: a sandbox that fails on purpose, and commands that are killed.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const PROGRAM = fileURLToPath(new URL("../../dist/bin/ragtag.js", import.meta.url));
/** A command that takes longer hangs, in milliseconds. */
const PATIENCE = 120_000;
const START = 20_000;

const running = new Set();
// Whatever ends this script ends what it started.
process.on("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

/**
 * Starts a command.
 *
 * @param before words before the program: options of node, or a tracer and node itself
 */
export function start(argv, { cwd, env = {}, before = [process.execPath], patience = PATIENCE, onError }) {
	const [command, ...words] = before;
	const own = { PATH: process.env.PATH, XDG_CONFIG_HOME: "/nonexistent", HOME: cwd };
	const child = spawn(command, [...words, PROGRAM, ...argv], { cwd, env: { ...own, ...env }, stdio: "pipe" });
	running.add(child);
	child.stdin.on("error", () => undefined).end();
	const text = { out: "", err: "" };
	child.stdout.setEncoding("utf8").on("data", (chunk) => (text.out += chunk));
	child.stderr.setEncoding("utf8").on("data", (chunk) => {
		text.err += chunk;
		onError?.(chunk);
	});
	const ended = new Promise((resolve, reject) => {
		const late = setTimeout(() => {
			child.kill("SIGKILL");
			reject(new Error(`${argv.slice(0, 2).join(" ")} took longer than ${patience / 1000} s\n${text.err}`));
		}, patience);
		child.once("error", reject);
		child.once("close", (code, signal) => {
			clearTimeout(late);
			running.delete(child);
			resolve({ code, signal, ...text });
		});
	});
	ended.catch(() => undefined);
	return { child, ended };
}

/** A sandbox with a control address. */
export async function startSandbox(cwd, argv, faults) {
	const words = ["sandbox", "--port", "0", "--control", ...argv, "--faults", JSON.stringify(faults)];
	const own = { PATH: process.env.PATH, HOME: cwd };
	const child = spawn(process.execPath, [PROGRAM, ...words], { cwd, env: own, stdio: ["ignore", "pipe", "ignore"] });
	running.add(child);
	const over = new Promise((resolve) => child.once("close", resolve));
	void over.then(() => running.delete(child));
	const lines = [];
	await new Promise((resolve, reject) => {
		const late = setTimeout(() => reject(new Error("the sandbox said no address")), START);
		createInterface({ input: child.stdout }).on("line", (line) => {
			lines.push(line);
			if (!line.startsWith("control ")) return;
			clearTimeout(late);
			resolve();
		});
		void over.then((code) => reject(new Error(`the sandbox ended with ${code}`)));
	});
	const key = /RAGTAG_API_KEY='?([^']+)'?$/.exec(lines[1])[1];
	return {
		url: lines[0],
		key,
		control: lines.at(-1).slice("control ".length),
		dataset: lines.length > 3 ? lines[2] : undefined,
		env: { RAGTAG_BASE_URL: lines[0], RAGTAG_API_KEY: key },
		stop: async () => {
			child.kill("SIGTERM");
			await over;
		},
	};
}
