import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { withoutKey } from "./service.ts";
import type { Ended } from "./ragtag.ts";

/** What `npm run build` makes, or the installed program or the executable that `RAGTAG_PROGRAM` names. */
export const PROGRAM =
	process.env["RAGTAG_PROGRAM"] ?? fileURLToPath(new URL("../../dist/bin/ragtag.js", import.meta.url));

/** `npm run build:binary` makes a program that needs no Node. */
export const isExecutable = !PROGRAM.endsWith(".js");

/** The words that start the program. */
export const COMMAND: readonly [string, ...string[]] = isExecutable ? [PROGRAM] : [process.execPath, PROGRAM];

export type Running = {
	readonly child: ChildProcess;
	readonly out: () => string;
	readonly err: () => string;
	/** resolves when what was written to a stream meets the test; rejects when the program ended before */
	until(met: (out: string, err: string) => boolean): Promise<void>;
	/** the exit code, or the signal's number and 128 */
	readonly ended: Promise<Ended>;
};

/** Where the programs of this test file record their runs: never in the tester's home. */
const states = mkdtempSync(join(tmpdir(), "ragtag-test-state-"));
process.on("exit", () => rmSync(states, { recursive: true, force: true }));

/** Nothing of the tester's own settings: a key or a proxy in the environment would change what is tested. */
export function environment(env: Readonly<Record<string, string>>): Record<string, string> {
	// Where the executable is tested, there is no Node on this path.
	const path = process.env["RAGTAG_PROGRAM_PATH"] ?? process.env["PATH"] ?? "";
	const base = { PATH: path, TMPDIR: tmpdir(), HOME: states, XDG_CONFIG_HOME: "/nonexistent" };
	// Compiled code is kept there, whatever home a test gives: to compile it takes as long as a short command.
	const cache = { XDG_CACHE_HOME: join(states, "cache") };
	return { ...base, ...cache, XDG_STATE_HOME: mkdtempSync(join(states, "state-")), ...env };
}

/** The built program as a process of its own. It ends with the test. */
export function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = ""): Running {
	const running = startOpen(argv, env);
	running.child.stdin?.end(stdin);
	return running;
}

/** The same, and its input stays open. */
export function startOpen(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
	const [command, ...words] = COMMAND;
	return watch(spawn(command, [...words, ...argv], { env: environment(env), stdio: "pipe" }));
}

/** A line of shell on a terminal of its own, as `script` makes one. What is written to its input is typed there. */
export function startOnTerminal(line: string, env: Readonly<Record<string, string>> = {}): Running {
	const RAGTAG = COMMAND.join(" ");
	const more = { RAGTAG, SHELL: "/bin/bash", TERM: "xterm-256color", ...env };
	return watch(spawn("script", ["-qefc", line, "/dev/null"], { env: environment(more), stdio: "pipe" }));
}

/** A line of shell, in which `$RAGTAG` is the program. */
export function shell(line: string, env: Readonly<Record<string, string>> = {}, stdin = ""): Promise<Ended> {
	const RAGTAG = COMMAND.join(" ");
	const child = spawn("bash", ["-c", line], { env: environment({ RAGTAG, ...env }), stdio: "pipe" });
	const { ended } = watch(child);
	child.stdin.end(stdin);
	return ended;
}

export function program(
	argv: readonly string[],
	env: Readonly<Record<string, string>> = {},
	stdin = "",
): Promise<Ended> {
	return start(argv, env, stdin).ended;
}

/** Kills the program as soon as that is so, unless it has ended before. */
export async function killedWhen({ child, ended }: Running, isDue: () => boolean): Promise<Ended> {
	for (;;) {
		if (isDue()) child.kill("SIGKILL");
		const end = await Promise.race([ended, setTimeout(1)]);
		if (end !== undefined) return end;
	}
}

function watch(child: ReturnType<typeof spawn>): Running {
	const text = { out: "", err: "" };
	const listeners = new Set<() => void>();
	let over = false;
	const tell = (): void => listeners.forEach((listener) => listener());
	child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
		text.out += chunk;
		tell();
	});
	child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
		text.err += chunk;
		tell();
	});
	// A program that never reads its input is no failure of the test.
	child.stdin?.on("error", () => undefined);
	const ended = new Promise<Ended>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => {
			over = true;
			tell();
			try {
				withoutKey(text.out + text.err);
			} catch (error) {
				return reject(error);
			}
			resolve({
				exit: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
				stdout: text.out,
				stderr: text.err,
			});
		});
	});
	onTestFinished(async () => {
		if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
		await ended.catch(() => undefined);
	});
	return {
		child,
		out: () => text.out,
		err: () => text.err,
		ended,
		until: (met) =>
			new Promise((resolve, reject) => {
				const look = (): void => {
					if (met(text.out, text.err)) resolve();
					else if (over) reject(new Error(`ended before: ${text.out}${text.err}`));
					else return;
					listeners.delete(look);
				};
				listeners.add(look);
				look();
			}),
	};
}
