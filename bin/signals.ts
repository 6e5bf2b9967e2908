import { constants } from "node:os";
import process from "node:process";
import { Exit, type ExitCode } from "../src/errors.ts";
import type { App } from "../src/app.ts";

/**
 * Milliseconds from the first signal until the program leaves, whatever it waits for. Rows in flight have 5 seconds, and
 * 2 more are for the summary; service managers kill after 10.
 */
const LONGEST_STOP_MS = 7000;

const STOPPING: readonly (readonly [NodeJS.Signals, ExitCode])[] = [
	["SIGHUP", Exit.hangup],
	["SIGINT", Exit.interrupted],
	["SIGTERM", Exit.terminated],
];

/** Listens to the signals of the process. The result is aborted with a `Stop` at the first that asks for the end. */
export function listenToSignals(io: App["io"]): AbortSignal {
	const stopping = new AbortController();
	const { stdout, stderr } = process;
	for (const [name, exit] of STOPPING) {
		// What `nohup` sets up: a run without a terminal goes on when the terminal that started it is closed.
		if (name === "SIGHUP" && stdout.isTTY !== true && stderr.isTTY !== true) {
			process.on(name, () => undefined);
			continue;
		}
		process.on(name, () => {
			if (stopping.signal.aborted) leave(io, name, exit, `${name} once more: leaving at once`);
			io.err(`ragtag: ${name} received: stopping, within 5 s; once more leaves at once`);
			stopping.abort({ exit, text: `stopped by ${name}` });
			setTimeout(() => leave(io, name, exit, "it could not stop within 5 s and leaves now"), LONGEST_STOP_MS).unref();
		});
	}
	for (const name of ["SIGUSR1", "SIGINFO"]) {
		// SIGINFO is Ctrl-T on macOS and BSD; a name that a system lacks would be an event that never comes.
		if (name in constants.signals) process.on(name, () => io.status(stopping.signal.aborted ? "stopping" : undefined));
	}
	return stopping.signal;
}

/**
 * Ends the program as this signal does by itself. `process.exit` waits for every thread, and one that opens a pipe or
 * asks a dead file server never comes back.
 */
function leave(io: App["io"], name: NodeJS.Signals, exit: ExitCode, why: string): never {
	io.err(`ragtag: ${why}. What a run has sent is recorded; type: ragtag runs list`);
	io.status("leaving");
	process.removeAllListeners(name);
	process.kill(process.pid, name);
	// The first process of a container is not ended by its own signal.
	process.exit(exit);
}
