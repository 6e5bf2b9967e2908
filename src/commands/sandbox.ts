import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import type { App } from "../app.ts";
import { Exit, type ExitCode, reason, usageError } from "../errors.ts";
import type { FaultPlan } from "../sandbox/faults/plan.ts";
import type { Sandbox } from "../sandbox/index.ts";
import { type Flavour, flavours, isFlavour } from "../sandbox/flavours/index.ts";
import { type GlobalFlags, MESSAGES } from "../flags/flags.ts";
import { choice, declare, defaulted, Flag, oneOf, toggle, valued, type ValuesOf } from "../flags/declare.ts";
import { parseCount, parseNonEmpty } from "../flags/values.ts";

const OPTIONS = {
	port: valued(
		"--port <port>",
		"port on 127.0.0.1; 0 takes a free one (default: 9380; for a program: 0)",
		parseCount(0, 65_535),
	),
	data: valued("--data <file>", "SQLite file that keeps the data (default: a temporary one)", parseNonEmpty),
	key: valued("--key <key>", "the API key that it accepts (default: a random one)", parseNonEmpty),
	memberKey: valued(
		"--member-key <key>",
		"a second key, of a team member: RAGFlow lets it do all but update",
		parseNonEmpty,
	),
	flavour: new Flag<Flavour, true>("--flavour <name>", "how it answers").choices(flavours).default(flavours[0]),
	upgrade: valued("--upgrade <name:n>", "changes to that flavour after n updates", parseUpgrade),
	ties: oneOf(
		"--ties <order>",
		["stable", "unstable"],
		"order of documents with equal times, from page to page (default: stable as documented, unstable as RAGFlow)",
	),
	latency: defaulted("--latency <ms>", "milliseconds by which every answer is delayed", parseCount(0, 600_000), 0),
	documents: valued(
		"--documents <n>",
		"fills an empty store with a dataset of n documents",
		parseCount(1, 100_000_000),
	),
	update: choice("--update <effect>", ["replace", "merge"], "what an update does (documented)"),
	pageLimit: valued("--page-limit <n>", "largest page_size (documented; default: 1000)", parseCount(1, 1_000_000)),
	largePage: choice("--large-page <what>", ["error", "cap"], "what a larger page_size causes (documented)"),
	errorStyle: choice(
		"--error-style <style>",
		["status", "envelope"],
		"HTTP status of errors: their own, or always 200 (documented)",
	),
	faults: valued(
		"--faults <plan>",
		"injects the faults of a plan: a file, its JSON text, or list to print all faults",
		parseNonEmpty,
	),
	control: toggle("--control", "opens a second address that reports what was applied and takes plans").default(false),
	...MESSAGES,
};

type SandboxFlags = GlobalFlags & ValuesOf<typeof OPTIONS>;

export const sandboxCommand = declare({
	description:
		"Serves the API on this machine, as documented or as a release of RAGFlow does. Prints its address and the line " +
		"that sets its key. With a program after --, it serves that program alone, and ends with it.",
	examples:
		"ragtag sandbox --documents 1000\nragtag sandbox --documents 12 -- bash\nragtag sandbox --port 0 --data demo.db --latency 50\n" +
		"ragtag sandbox --flavour ragflow-0.24 --upgrade ragflow-0.26:100\n" +
		`ragtag sandbox --faults '{"faults":[{"fault":"reset","on":{"method":"PUT","every":10}}]}'`,
	arguments: { "[program...]": "after --: a program, such as a shell, that gets the address and the key" },
	options: OPTIONS,
	// Serves until a signal ends it, which is the normal end of a service, and so exit 0; or as long as a program runs that
	// the words start.
	run: async ({ program: words, ...flags }, app) => {
		const { io, signal } = app;
		if (flags.faults === "list") {
			const { faultTable } = await import("../sandbox/faults/table.ts");
			await io.out(faultTable());
			return Exit.ok;
		}
		checkOptions(flags);
		const { NoSqlite, startSandbox } = await import("../sandbox/index.ts");
		const faults = await faultPlan(flags);
		const sandbox = await startSandbox({
			...flags,
			port: flags.port ?? (words.length > 0 ? 0 : 9380),
			onLargePage: flags.largePage,
			pageSizeLimit: flags.pageLimit,
			faults,
			control: flags.control === true,
			// The terminal belongs to the program.
			log: (line) => (words.length > 0 ? io.debug(line) : io.note(line)),
		}).catch((error: unknown) => {
			const hint = error instanceof NoSqlite ? error.hint : undefined;
			throw usageError(`the sandbox could not start: ${reason(error)}`, hint, error);
		});
		try {
			if (words.length > 0) {
				return await runWithSandbox(words, sandbox, flags, app);
			}
			await io.out(`${sandbox.url}\nexport RAGTAG_API_KEY=${sandbox.key}\n`);
			if (flags.documents !== undefined && sandbox.datasetId !== undefined) await io.out(`${sandbox.datasetId}\n`);
			if (sandbox.control !== undefined) await io.out(`control ${sandbox.control.url}\n`);
			if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
		} finally {
			await sandbox.close();
		}
		return Exit.ok;
	},
});

async function faultPlan({ faults }: SandboxFlags): Promise<FaultPlan | undefined> {
	if (faults === undefined) return undefined;
	const { readPlan } = await import("../sandbox/faults/plan.ts");
	return readPlan(faults).catch((error: unknown) => {
		const hint = "ragtag sandbox --faults list prints the form of a plan and all faults.";
		throw usageError(`--faults: ${reason(error)}`, hint, error);
	});
}

/** Options that would have no effect are refused: the documented API has no members, releases of RAGFlow have fixed answers. */
function checkOptions(flags: SandboxFlags): void {
	const { flavour, upgrade, update, pageLimit, largePage, errorStyle, memberKey } = flags;
	if (flavour === "documented" && upgrade === undefined && memberKey !== undefined) {
		throw usageError(
			"--member-key is only for RAGFlow's flavours: the documented API has no members",
			"Name a flavour, as in --flavour ragflow-0.24.",
		);
	}
	if (flavour === "documented" || upgrade?.to === "documented") return;
	if (update === "replace" && pageLimit === undefined && largePage === "error" && errorStyle === "status") return;
	throw usageError(
		"--update, --page-limit, --large-page and --error-style need --flavour documented, or --upgrade to it",
		"Leave them out: a release of RAGFlow has fixed answers.",
	);
}

/** `NAME:N`: a flavour, and the number of updates after which it answers. */
function parseUpgrade(text: string): { readonly to: Flavour; readonly after: number } {
	const [to = "", count = "", ...rest] = text.split(":");
	if (!isFlavour(to) || rest.length > 0) {
		throw new InvalidArgumentError(`It has the form NAME:N, and NAME is one of ${flavours.join(", ")}.`);
	}
	return { to, after: parseCount(1, Number.MAX_SAFE_INTEGER)(count) };
}

/** Settings of another service. A sandbox's own address and key must not meet them. */
const OTHER_SERVICE = ["RAGTAG_API_KEY_FILE", "RAGTAG_API_KEY_COMMAND", "RAGTAG_PROFILE"];

/**
 * Runs a program, such as a shell, with the sandbox's address and key in its environment, until it ends. Resolves with its exit
 * code where that is one of ours, else with 1. Where the sandbox keeps no data and no folder is named, its runs are recorded in a
 * folder that goes with it: the documents that they name are gone as well.
 *
 * @throws CliError exit 2 if it can't be started
 */
async function runWithSandbox(
	[program = "", ...words]: readonly string[],
	{ url, key }: Pick<Sandbox, "url" | "key">,
	{ data, stateDir }: SandboxFlags,
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
