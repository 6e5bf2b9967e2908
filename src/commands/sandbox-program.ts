import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "../app.ts";
import { Exit, type ExitCode, reason, usageError } from "../errors.ts";

/** What a program needs to talk to a sandbox. */
type Service = { readonly url: string; readonly key: string };

/** Settings of another service. A sandbox's own address and key must not meet them. */
const OTHER_SERVICE = ["RAGTAG_API_KEY_FILE", "RAGTAG_API_KEY_COMMAND", "RAGTAG_PROFILE"];

/**
 * Runs a program, such as a shell, with the sandbox's address and key in its environment, until it ends. Resolves with its exit
 * code where that is one of ours, else with 1. Where the sandbox keeps no data and no folder is named, its runs are recorded in a
 * folder that goes with it: the documents that they name are gone as well.
 *
 * @throws CliError exit 2 if it can't be started
 */
export async function runWithSandbox(
	[program = "", ...words]: readonly string[],
	{ url, key }: Service,
	{ data, stateDir }: { readonly data?: string | undefined; readonly stateDir?: string | undefined },
	{ env, io, signal }: App,
): Promise<ExitCode> {
	const own: Record<string, string | undefined> = { ...env, RAGTAG_BASE_URL: url, RAGTAG_API_KEY: key };
	for (const name of OTHER_SERVICE) delete own[name];
	const kept = stateDir ?? env["RAGTAG_STATE_DIR"];
	const state = data === undefined && kept === undefined ? await mkdtemp(join(tmpdir(), "ragtag-runs-")) : undefined;
	own["RAGTAG_STATE_DIR"] = state ?? kept;
	try {
		await io.flush();
		const { code, by } = await io.lend(ended(program, words, own, signal));
		if (code === Exit.ok) return Exit.ok;
		if (code === null) io.note(`${program} was ended by ${by ?? "a signal"}.`);
		else io.note(`${program} ended with exit code ${code}.`);
		const number = code ?? 128 + (by === null ? 0 : constants.signals[by]);
		return Object.values(Exit).find((exit) => exit === number) ?? Exit.failedRows;
	} finally {
		if (state !== undefined) await rm(state, { recursive: true, force: true });
	}
}

/** Ctrl-C belongs to the program (`lend`), which decides what it means; SIGTERM and SIGHUP reach this process alone. */
function ended(
	program: string,
	words: readonly string[],
	env: Record<string, string | undefined>,
	signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly by: NodeJS.Signals | null }> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, words, { env, signal, stdio: "inherit" });
		child.on("error", (error) => {
			const hint = "Name a program that is there: ragtag sandbox -- bash";
			if (!signal.aborted) reject(usageError(`${program} could not be started: ${reason(error)}`, hint));
		});
		child.on("close", (code, by) => resolve({ code, by }));
	});
}
