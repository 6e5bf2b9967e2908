import process from "node:process";

// This file imports nothing that an old Node lacks, and nothing large at once: the listener below comes first.
const OLDEST = { major: 20, minor: 19 };

/** When it is asked again whether a debugger is open, in milliseconds after the start. */
const LATE_MS = [5, 50];

/** Options with which a user asks for a debugger. */
const OPENS_DEBUGGER = /--inspect(?:-brk|-wait)?(?![\w-])/;

/** What the build knows of the program in `dist/parts`; undefined in the executable, which holds the program itself. */
declare const __RAGTAG_PROGRAM__: string | undefined;
declare const __RAGTAG_COMMANDS__: readonly string[];

// Without a listener, Node opens a debugger at this signal, through which any process of this machine reads the key.
process.on("SIGUSR1", () => undefined);

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
	process.stderr.write(
		`ragtag: this is Node ${process.versions.node}, and ragtag needs Node ${OLDEST.major}.${OLDEST.minor} or newer; nothing was sent\n`,
	);
	// Usage, as in src/errors.ts, which is not loaded here.
	process.exitCode = 2;
} else void start();

/** Prints the version, which needs nothing of the program. For all else it loads the program, which reads the command line. */
async function start(): Promise<void> {
	const words = process.argv.slice(2);
	if (words.length === 1 && words[0] === "--version") {
		const { VERSION } = await import("../src/version.ts");
		return print(`${VERSION}\n`);
	}
	await refuseDebugger();
	if (typeof __RAGTAG_PROGRAM__ === "string") {
		const { commandOf, runProgram } = await import("./compiled-program.ts");
		runProgram(__RAGTAG_PROGRAM__, commandOf(words, __RAGTAG_COMMANDS__));
	} else await import("./main.ts");
}

/** Writes to standard output. A failure is exit 74, as in src/errors.ts, which is not loaded here. */
function print(text: string): void {
	const fail = ({ code, message }: NodeJS.ErrnoException): void => {
		if (code === "EPIPE") return;
		process.exitCode = 74;
		process.stderr.write(`ragtag: standard output could not be written: ${message}\n`);
	};
	try {
		process.stdout.on("error", fail).write(text);
	} catch (error) {
		// A stream of a file throws at once.
		fail(error instanceof Error ? error : new Error(String(error)));
	}
}

/**
 * Ends the program if a debugger is open that the user did not ask for.
 *
 * SIGUSR1 opens one while Node itself starts, before a listener can be added. A process that attaches to it reads the API
 * key. Closing the debugger, or ending in any other way, would first serve the attached process, or wait for it.
 */
async function refuseDebugger(): Promise<void> {
	const inspector = await import("node:inspector").catch(() => undefined);
	// Node opens it in a turn of its event loop.
	await new Promise((resolve) => setImmediate(resolve));
	if (
		inspector === undefined ||
		OPENS_DEBUGGER.test([...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" "))
	)
		return;
	const isOpen = (): boolean => inspector.url() !== undefined;
	if (isOpen()) return endWithDebugger();
	// On a busy machine the thread that opens it comes late. No request is sent by then.
	for (const milliseconds of LATE_MS) setTimeout(() => isOpen() && void endWithDebugger(), milliseconds).unref();
}

async function endWithDebugger(): Promise<void> {
	process.stderr.write(
		"ragtag: SIGUSR1 came before the program had begun, and Node opened a debugger, which shows the API key; nothing was sent\nRun the same command again.\n",
	);
	// By another process: before it signals itself, Node waits for the debugger to go (`Kill` in src/node_process_methods.cc).
	const { spawnSync } = await import("node:child_process");
	spawnSync("/bin/sh", ["-c", `kill -KILL ${process.pid}`], { env: {} });
	// The first process of a container is not ended by such a signal.
	process.exit(2);
}
