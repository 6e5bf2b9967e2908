import process from "node:process";

/** What a person types to have a debugger, or code of their own that may open one. */
const ASKED_FOR = /--inspect|--require|--import|(?:^|\s)-r\s/;

/**
 * Ends the program where a debugger is open that was not asked for.
 *
 * SIGUSR1 opens one while Node itself starts, before any listener can stand. Whoever attaches to it reads the API key.
 * Closing it would wait for who is attached, and serve them meanwhile; so would leaving by Node's own way.
 */
export async function refuseDebugger(): Promise<void> {
	const inspector = await import("node:inspector").catch(() => undefined);
	// Node opens it in a turn of its loop.
	await new Promise((resolve) => setImmediate(resolve));
	if (inspector?.url() === undefined) return;
	if (ASKED_FOR.test([...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" "))) return;
	process.stderr.write(
		"ragtag: SIGUSR1 came before the program had begun, and Node opened a debugger, which shows the API key; nothing was sent\nRun the same command again.\n",
	);
	process.kill(process.pid, "SIGTERM");
	// The first process of a container is not ended by its own signal.
	process.exit(2);
}
