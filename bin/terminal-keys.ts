import { readFileSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { Keys } from "../src/app.ts";

/** Numbers of fields in `/proc/PID/stat`, from 1 (proc(5)): the process group, and the one in the terminal's foreground. */
const STATE_FIELD = 3;
const GROUP_FIELD = 5;
const FOREGROUND_FIELD = 8;

/** How often a job in the background looks whether it is in the foreground, in milliseconds. */
const LOOK_MS = 1000;

/** The keys of the terminal on standard input. The terminal is given back when the process is stopped, and when it exits. */
export function terminalKeys(): Keys {
	const keys = new Keys({
		stdin: process.stdin,
		// 0 is the process group: the terminal sends its signals to the whole pipeline, too.
		raise: (signal) => void process.kill(0, signal),
		isForeground,
		hasInfo: "SIGINFO" in constants.signals,
	});
	if (process.stdin.isTTY !== true) return keys;
	process.on("exit", () => keys.giveBack());
	process.on("SIGCONT", () => keys.proceed());
	// A shell sends no signal to a running job that it takes to the foreground.
	setInterval(() => (keys.isWaiting ? keys.proceed() : undefined), LOOK_MS).unref();
	const onStop = (): void => {
		keys.giveBack();
		process.off("SIGTSTP", onStop);
		// By its default, so that a group without a shell that could continue it is not stopped.
		process.kill(process.pid, "SIGTSTP");
		setTimeout(() => {
			process.on("SIGTSTP", onStop);
			keys.proceed();
		}, 0);
	};
	process.on("SIGTSTP", onStop);
	return keys;
}

/** Whether this process may touch the terminal. False where that can't be known. */
function isForeground(): boolean {
	try {
		const stat = readFileSync("/proc/self/stat", "utf8");
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return fields[GROUP_FIELD - STATE_FIELD] === fields[FOREGROUND_FIELD - STATE_FIELD];
	} catch {
		return isForegroundByPs();
	}
}

/** The same on a system without `/proc`, such as macOS. */
function isForegroundByPs(): boolean {
	try {
		const { execFileSync } = process.getBuiltinModule("node:child_process");
		const text = execFileSync("ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)], { encoding: "utf8" });
		const [group, foreground] = text.trim().split(/\s+/);
		return group !== undefined && group === foreground;
	} catch {
		return false;
	}
}
