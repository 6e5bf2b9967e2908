import { type Command, InvalidArgumentError, Option } from "commander";
import type { App } from "../app.ts";
import { CliError, Exit, type ExitCode, reason } from "../errors.ts";
import type { FaultPlan } from "../sandbox/faults/plan.ts";
import { type Flavour, flavours, isFlavour } from "../sandbox/flavours/index.ts";
import { addVerbosityOptions, type GlobalFlags } from "../flags/flags.ts";
import type { Done } from "../flags/declare.ts";
import { parseCount, parseNonEmpty } from "../flags/values.ts";

const planHint = "ragtag sandbox --faults list shows the form of a plan, and every fault.";

export type SandboxFlags = GlobalFlags & {
	readonly port: number;
	readonly data?: string;
	readonly key?: string;
	readonly memberKey?: string;
	readonly flavour: Flavour;
	readonly upgrade?: { readonly to: Flavour; readonly after: number };
	readonly ties?: "stable" | "unstable";
	readonly latency: number;
	readonly documents?: number;
	readonly update: "replace" | "merge";
	readonly pageLimit?: number;
	readonly largePage: "error" | "cap";
	readonly errorStyle: "status" | "envelope";
	readonly faults?: string;
	readonly control: boolean;
};

/** Declares the interface of `sandbox`. What it does is in `serve`. */
export function sandboxCommand(program: Command, app: App, done: Done, run = serve): void {
	const command = program
		.command("sandbox")
		.summary("serve the API on this machine over a SQLite file")
		.description(
			"Serves the API on this machine, as documented or as a release of RAGFlow answers it. Prints its address, and the " +
				"line that sets its key.",
		)
		.option("--port <port>", "port on 127.0.0.1; 0 takes a free one", parseCount(0, 65_535), 9380)
		.option("--data <file>", "SQLite file that keeps the data (default: a temporary one)", parseNonEmpty)
		.option("--key <key>", "the key it takes (default: a random one)", parseNonEmpty)
		.option("--member-key <key>", "a second key: of a team member, whom RAGFlow lets do all but update", parseNonEmpty)
		.addOption(new Option("--flavour <name>", "what it speaks").choices(flavours).default("documented"))
		.option("--upgrade <name:n>", "becomes that flavour once n updates were applied", parseUpgrade)
		.addOption(
			new Option(
				"--ties <order>",
				"documents of one time, from page to page (default: stable as documented, unstable as RAGFlow)",
			).choices(["stable", "unstable"]),
		)
		.option("--latency <ms>", "milliseconds that every answer is late", parseCount(0, 600_000), 0)
		.option("--documents <n>", "fills an empty store with a dataset of so many documents", parseCount(1, 100_000_000))
		.addOption(
			new Option(
				"--update <effect>",
				"what an update does (documented; ragflow-0.24, which merges where it stores in Elasticsearch)",
			)
				.choices(["replace", "merge"])
				.default("replace"),
		)
		.option("--page-limit <n>", "largest page_size (documented; default: 1000)", parseCount(1, 1_000_000))
		.addOption(
			new Option("--large-page <what>", "what a larger one gets (documented)")
				.choices(["error", "cap"])
				.default("error"),
		)
		.addOption(
			new Option("--error-style <style>", "HTTP status by the error, or always 200 (documented)")
				.choices(["status", "envelope"])
				.default("status"),
		)
		.option("--faults <plan>", "fails as a plan says: a file, its JSON text, or list for all faults", parseNonEmpty)
		.option("--control", "a second address that tells what was applied and takes plans", false)
		.addHelpText(
			"before",
			"Examples:\n  ragtag sandbox --documents 1000\n  ragtag sandbox --port 0 --data demo.db --latency 50\n" +
				"  ragtag sandbox --flavour ragflow-0.24 --upgrade ragflow-0.26:100\n" +
				`  ragtag sandbox --faults '{"faults":[{"fault":"reset","on":{"method":"PUT","every":10}}]}'\n`,
		);
	addVerbosityOptions(command).action(async () => done(await run(command.optsWithGlobals<SandboxFlags>(), app)));
}

/** Serves until a signal ends it: for a service that is its normal end, so it is exit 0. */
export async function serve(flags: SandboxFlags, { io, signal }: App): Promise<ExitCode> {
	if (flags.faults === "list") {
		const { faultTable } = await import("../sandbox/faults/table.ts");
		await io.out(faultTable());
		return Exit.ok;
	}
	checkSwitches(flags);
	const { startSandbox } = await import("../sandbox/index.ts");
	const faults = await planOf(flags);
	const sandbox = await startSandbox({
		port: flags.port,
		latency: flags.latency,
		flavour: flags.flavour,
		update: flags.update,
		onLargePage: flags.largePage,
		errorStyle: flags.errorStyle,
		...(flags.data === undefined ? {} : { data: flags.data }),
		...(flags.key === undefined ? {} : { key: flags.key }),
		...(flags.memberKey === undefined ? {} : { memberKey: flags.memberKey }),
		...(flags.upgrade === undefined ? {} : { upgrade: flags.upgrade }),
		...(flags.ties === undefined ? {} : { ties: flags.ties }),
		...(flags.documents === undefined ? {} : { documents: flags.documents }),
		...(flags.pageLimit === undefined ? {} : { pageSizeLimit: flags.pageLimit }),
		...(faults === undefined ? {} : { faults }),
		control: flags.control,
		log: (line) => io.note(line),
	}).catch((error: unknown) => {
		throw new CliError(`the sandbox could not start: ${reason(error)}`, { exit: Exit.usage, cause: error });
	});
	try {
		await io.out(`${sandbox.url}\nexport RAGTAG_API_KEY=${sandbox.key}\n`);
		if (flags.documents !== undefined && sandbox.datasetId !== undefined) await io.out(`${sandbox.datasetId}\n`);
		if (sandbox.control !== undefined) await io.out(`control ${sandbox.control.url}\n`);
		if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
	} finally {
		await sandbox.close();
	}
	return Exit.ok;
}

async function planOf({ faults }: SandboxFlags): Promise<FaultPlan | undefined> {
	if (faults === undefined) return undefined;
	const { readPlan } = await import("../sandbox/faults/plan-source.ts");
	return readPlan(faults).catch((error: unknown) => {
		throw new CliError(`--faults: ${reason(error)}`, { exit: Exit.usage, cause: error, hint: planHint });
	});
}

/** A release of RAGFlow has made these choices: a switch that would do nothing is refused. */
function checkSwitches(flags: SandboxFlags): void {
	const { flavour, upgrade, update, pageLimit, largePage, errorStyle, memberKey } = flags;
	if (flavour === "documented" && upgrade === undefined && memberKey !== undefined) {
		throw new CliError("--member-key is of RAGFlow's flavours alone: the documentation knows no members", {
			exit: Exit.usage,
			hint: "Name a flavour, as in --flavour ragflow-0.24.",
		});
	}
	if (flavour === "documented" || upgrade?.to === "documented") return;
	const updates = update === "replace" || flavour === "ragflow-0.24";
	if (updates && pageLimit === undefined && largePage === "error" && errorStyle === "status") return;
	throw new CliError("--update, --page-limit, --large-page and --error-style are of --flavour documented alone", {
		exit: Exit.usage,
		hint: `Leave them out: ${flavour} does what that release does.`,
	});
}

/** `NAME:N`: a flavour, and the updates after which it is spoken. */
function parseUpgrade(text: string): { readonly to: Flavour; readonly after: number } {
	const [to = "", count = "", ...rest] = text.split(":");
	if (!isFlavour(to) || rest.length > 0) {
		throw new InvalidArgumentError(`It has the form NAME:N, and NAME is one of ${flavours.join(", ")}.`);
	}
	return { to, after: parseCount(1, Number.MAX_SAFE_INTEGER)(count) };
}
