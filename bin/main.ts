import { existsSync } from "node:fs";
import { homedir } from "node:os";
import process from "node:process";
import { createApp, createIo, strayKeys } from "../src/app.ts";
import { main } from "../src/cli.ts";
import { Exit, reason } from "../src/errors.ts";
import { listenToSignals } from "./signals.ts";

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

const processes = {
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
const app = createApp({ io, env, home, stdin, signal, processes });
void main(process.argv.slice(2), app).then(async (exit) => {
	process.exitCode = exit;
	await io.flush();
	// An open pipe or connection must not keep a finished program alive.
	process.exit();
});
