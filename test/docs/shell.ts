import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { COMMAND } from "../support/program.ts";

/** What pages say in place of what a test's machine has. */
const ADDRESS = "127.0.0.1:9380";
const OWN_SERVER = "https://rag.example.com";
const HOME = "/home/anna";
const OWN_KEY = "ragflow-YOUR-KEY";
const KEY = "sandbox-9b82481f7ce9ba9fee539f94777d3364";

/** No program prints it: it divides what the commands of a page printed. */
const DIVIDER = "\u001e";

/** Milliseconds: a page that takes longer hangs. The slowest takes some 10 s on two shared cores. */
const LONGEST = 150_000;

/**
 * Types the commands of a page into one shell, one after another, in an empty folder of an empty home. `ragtag sandbox`
 * is served until the page ends or starts another one, as in a terminal of its own.
 *
 * @returns what each printed, both streams in the order in which a terminal shows them
 */
export async function type(commands: readonly string[]): Promise<readonly string[]> {
	const world = await mkdtemp(join(tmpdir(), "ragtag-page-"));
	try {
		return await typeIn(world, commands);
	} finally {
		await endSandbox(world);
		await rm(world, { recursive: true, force: true });
	}
}

async function typeIn(world: string, commands: readonly string[]): Promise<readonly string[]> {
	const home = join(world, "home");
	const work = join(home, "rag");
	await mkdir(work, { recursive: true });
	const port = await freePort();
	await wrapper(join(world, "bin"), world, port);
	const real = (text: string): string =>
		text.replaceAll(OWN_KEY, KEY).replaceAll(OWN_SERVER, `http://${ADDRESS}`).replaceAll(ADDRESS, `127.0.0.1:${port}`);
	const script = commands.map(
		(text) => `__last=$?; printf '${DIVIDER}'; (exit $__last)\n${real(asOnATerminal(text))}\n`,
	);
	await writeFile(join(world, "page.sh"), script.join(""));
	const printed = await run(join(world, "page.sh"), {
		cwd: work,
		env: { PATH: `${join(world, "bin")}:${process.env["PATH"] ?? ""}`, HOME: home, TMPDIR: world, LANG: "C.UTF-8" },
	});
	const told = printed.replaceAll(`127.0.0.1:${port}`, ADDRESS).replaceAll(home, HOME);
	return told.split(DIVIDER).slice(1);
}

/** A reader sits at a terminal, where a list is a table; here it would be tab-separated values. */
function asOnATerminal(command: string): string {
	const isList =
		/^ragtag (docs list|datasets list|runs list|runs blame)\b/.test(command) && !/[|>]|--format|--json/.test(command);
	return isList ? `${command} --format table` : command;
}

/** `ragtag` on the PATH. A sandbox gets the port and the key that the page is typed with, and goes on beside the shell. */
async function wrapper(bin: string, world: string, port: number): Promise<void> {
	await mkdir(bin);
	const program = COMMAND.map((word) => `"${word}"`).join(" ");
	await writeFile(
		join(bin, "ragtag"),
		`#!/usr/bin/env bash
[ "$1" = sandbox ] && [ "$3" != list ] && [ "$2" != -h ] || exec ${program} "$@"
world="${world}"
if [ -f "$world/pid" ]; then
  kill "$(cat "$world/pid")"
  while kill -0 "$(cat "$world/pid")" 2> /dev/null; do sleep 0.02; done
fi
: > "$world/lines"
wanted=2
for word in "$@"; do case "$word" in --documents | --faults | --control) wanted=$((wanted + 1)) ;; esac; done
${program} "$@" --port ${port} --key ${KEY} > "$world/lines" 2> "$world/log" < /dev/null &
pid=$!
echo $pid > "$world/pid"
for ((try = 0; try < 1500; try++)); do
  [ "$(wc -l < "$world/lines")" -lt $wanted ] && kill -0 $pid 2> /dev/null || break
  sleep 0.02
done
cat "$world/lines"
[ "$(wc -l < "$world/lines")" -ge $wanted ] || cat "$world/log"
`,
	);
	await chmod(join(bin, "ragtag"), 0o755);
}

async function endSandbox(world: string): Promise<void> {
	const pid = Number(await readFile(join(world, "pid"), "utf8").catch(() => "0"));
	if (pid === 0) return;
	try {
		process.kill(pid, "SIGTERM");
		// Until it has ended: it removes what it kept in the folder. 10 s are long beyond need.
		for (let tries = 0; tries < 500; tries++) {
			process.kill(pid, 0);
			await sleep(20);
		}
	} catch {
		// It has ended.
	}
}

function run(script: string, options: { cwd: string; env: Record<string, string> }): Promise<string> {
	return new Promise((resolve, reject) => {
		// One pipe for both streams: the order in which they are written is what a reader sees.
		const child = spawn("bash", ["-c", `exec bash "$1" 2>&1 < /dev/null`, "bash", script], {
			...options,
			stdio: ["ignore", "pipe", "inherit"],
			timeout: LONGEST,
		});
		let text = "";
		child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
		child.once("error", reject);
		child.once("close", (code) => (code === null ? reject(new Error(`took too long:\n${text}`)) : resolve(text)));
	});
}

/** A port below those that the kernel gives to other tests. */
async function freePort(): Promise<number> {
	for (let tries = 0; tries < 100; tries++) {
		const port = 10_000 + Math.floor(Math.random() * 20_000);
		const free = await new Promise<boolean>((resolve) => {
			const server = createServer();
			server.once("error", () => resolve(false));
			server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
		});
		if (free) return port;
	}
	throw new Error("no free port");
}
