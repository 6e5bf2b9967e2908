import { existsSync } from "node:fs";
import { homedir } from "node:os";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { createApp, createIo, strayKeys } from "../src/app.ts";
import { main } from "../src/cli.ts";
import { Exit, reason } from "../src/errors.ts";
import { listenToSignals } from "./signals.ts";

// Rows are short-lived, so a small nursery (1 MB instead of 16) and a heap that is swept before it grows by more than a
// fifth cost little speed, and keep the memory of a million rows near that of ten thousand.
setFlagsFromString("--max-semi-space-size=1");
setFlagsFromString("--semi-space-growth-factor=1");
setFlagsFromString("--heap-growing-percent=20");

const { env, stdin, stdout, stderr } = process;
const io = createIo({ stdin, stdout, stderr, env });
// Before the first word, as a key that was typed in the wrong place stands in the first message.
const { certain, likely } = strayKeys(process.argv.slice(2), env, existsSync);
for (const key of certain) io.hide(key);
for (const key of likely) io.hide(key, false);

const signal = listenToSignals(io);

// Node's own code for this is 1, which says that the run has finished. What was recorded is durable without a last word.
process.once("uncaughtException", (error) => {
	io.err(`ragtag: a fault of the program itself: ${reason(error)}. Please report it; ragtag runs list shows the run.`);
	process.exit(Exit.internal);
});

// Nothing is left that could go on, and the command has not ended: Node would leave without a word, with a code of its own.
process.once("beforeExit", () => {
	io.err("ragtag: a fault of the program itself: it waits for something that will never happen. Please report it.");
	process.exit(Exit.internal);
});

const processes = {
	pid: process.pid,
	isRunning: (pid: number): boolean => {
		try {
			return process.kill(pid, 0);
		} catch (error) {
			// Not allowed to signal it: so it is there.
			return error instanceof Error && "code" in error && error.code === "EPERM";
		}
	},
};

const app = createApp({ io, env, home: homedir(), stdin, signal, processes });
process.exitCode = await main(process.argv.slice(2), app);
await io.flush();
// A pipe that stays open, or a connection that lingers, must not keep a finished program alive.
process.exit();
