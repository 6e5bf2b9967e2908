import { existsSync } from "node:fs";
import { constants, homedir } from "node:os";
import process from "node:process";
import { type App, createApp, createIo, strayKeys } from "../src/app.ts";
import { main } from "../src/cli.ts";
import { Exit, type ExitCode, reason } from "../src/errors.ts";

/**
 * 7 s from the first signal until the program quits, whatever it waits for: 5 for rows in flight, and 2 for the summary.
 * Service managers kill after 10.
 */
const LONGEST_STOP_MS = 7000;

const STOPPING: readonly (readonly [NodeJS.Signals, ExitCode])[] = [
	["SIGHUP", Exit.hangup],
	["SIGINT", Exit.interrupted],
	["SIGTERM", Exit.terminated],
];

/** Handles the signals of the process. The first one that stops it aborts the result, with a `Stop` as its reason. */
function listenToSignals(io: App["io"]): AbortSignal {
	const stopping = new AbortController();
	const { stdout, stderr } = process;
	for (const [name, exit] of STOPPING) {
		// As with `nohup`, a run without a terminal goes on when the terminal that started it is closed.
		if (name === "SIGHUP" && stdout.isTTY !== true && stderr.isTTY !== true) {
			process.on(name, () => undefined);
			continue;
		}
		process.on(name, () => {
			if (name === "SIGINT" && io.isLent) return;
			if (stopping.signal.aborted) quit(io, name, exit, `second signal, ${name}: quitting now`);
			const again = name === "SIGINT" ? "Press Ctrl-C again" : "Send it again";
			io.err(`ragtag: ${name}: stopping; waiting up to 5 s for requests in flight. ${again} to quit now.`);
			stopping.abort({ exit, text: `stopped by ${name}` });
			setTimeout(() => quit(io, name, exit, "could not stop within 5 s; quitting now"), LONGEST_STOP_MS).unref();
		});
	}
	for (const name of ["SIGUSR1", "SIGINFO"]) {
		// SIGINFO is Ctrl-T on macOS and BSD. Other systems have no signal of that name.
		if (name in constants.signals) process.on(name, () => io.status());
	}
	return stopping.signal;
}

/**
 * Ends the program as this signal does by default. `process.exit` would wait for every thread, and a thread that opens a pipe
 * or waits for a dead file server never ends.
 */
function quit(io: App["io"], name: NodeJS.Signals, exit: ExitCode, why: string): never {
	io.err(`ragtag: ${why}.`);
	// Of a run, its counts so far: every request that it sent is recorded. Other commands have nothing to resume.
	const words = io.wordsBeforeQuitting();
	if (words === undefined) io.err("No run of rows was going on; run the same command again.");
	else io.err(words);
	io.end(`exit ${exit}`);
	process.removeAllListeners(name);
	process.kill(process.pid, name);
	// The first process of a container is not ended by its own signal.
	process.exit(exit);
}

const { env, stdin, stdout, stderr } = process;
const io = createIo({ stdin, stdout, stderr, env });
// Before the first message, which may repeat a key that was typed in the wrong place.
const { certain, likely } = strayKeys(process.argv.slice(2), env, existsSync);
for (const key of certain) io.hide(key);
for (const key of likely) io.hide(key, false);

const signal = listenToSignals(io);

// Node would exit with 1, which means that the run finished. The records of the run are durable already.
process.once("uncaughtException", (error) => {
	io.err(`ragtag: a fault of the program itself: ${reason(error)}. Please report it; ragtag runs list shows the run.`);
	process.exit(Exit.internal);
});

// The event loop is empty, and the command has not ended. Node would exit silently with a code of its own.
process.once("beforeExit", () => {
	io.err("ragtag: a fault of the program itself: it waits for an event that can't come. Please report it.");
	process.exit(Exit.internal);
});

// Node 22 and 24 call their SQLite experimental. The tests run with it, and a user of the sandbox can do nothing about it.
const printers = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
	if (!warning.message.startsWith("SQLite is an experimental feature")) for (const print of printers) print(warning);
});

const ownProcess = {
	pid: process.pid,
	isRunning: (pid: number): boolean => {
		try {
			return process.kill(pid, 0);
		} catch (error) {
			// No permission to signal it, so it exists.
			return error instanceof Error && "code" in error && error.code === "EPERM";
		}
	},
};

/** Undefined for a user that the system does not know, as in many containers, if HOME is not set. Node throws there. */
function homeFolder(): string | undefined {
	try {
		return homedir();
	} catch {
		return undefined;
	}
}

const home = homeFolder();
const app = createApp({ io, env, home, stdin, signal, ownProcess });
void main(process.argv.slice(2), app).then(async (exit) => {
	process.exitCode = exit;
	await io.flush();
	// An open pipe or connection must not keep a finished program alive.
	process.exit();
});
