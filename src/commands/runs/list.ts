import type { Command } from "commander";
import type { App } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import { supersededBy } from "../../run/recorded/superseded.ts";
import type { Totals } from "../../run/types.ts";
import type { Done } from "../../flags/declare.ts";
import { addVerbosityOptions } from "../../flags/flags.ts";
import { addFormatOption, type Format, printList } from "../../workflows/lists/list-output.ts";
import { readReport, type RunsFlags, type RunState, stateOf } from "../../workflows/recorded/recorded-run.ts";

type ListFlags = RunsFlags & { readonly format?: Format };

type Line = {
	readonly run: string;
	readonly command: string;
	readonly state: RunState;
	readonly totals: Totals | undefined;
	readonly manifest: string;
};

const COLUMNS = ["run", "command", "state", "rows", "done", "failed", "pending", "manifest"];

/** Declares the interface of `runs list`. What it does is in `list`. */
export function listCommand(runs: Command, app: App, done: Done, run = list): void {
	const command = runs
		.command("list")
		.summary("list recorded runs, the newest first")
		.description("Lists the recorded runs, undos among them, the newest first.")
		.option("--json", "JSON lines, the same as --format jsonl")
		.addHelpText("before", "Examples:\n  ragtag runs list\n  ragtag runs list --json | jq 'select(.pending > 0)'\n");
	addFormatOption(addVerbosityOptions(command)).action(async () => {
		done(await run(command.optsWithGlobals<ListFlags>(), app));
	});
}

export async function list(flags: ListFlags, app: App): Promise<ExitCode> {
	const settings = await app.settings(flags);
	const runs = app.runs(settings);
	const lines = async function* (): AsyncGenerator<Line> {
		const all = await runs.files();
		for (const file of all) {
			const { run, command, manifest } = file;
			const base = { run, command, manifest: manifest.name };
			// One damaged run must not hide the others.
			const report = await readReport(runs, file).catch(() => undefined);
			const recorded = report?.recorded;
			yield {
				...base,
				state: report === undefined ? "damaged" : stateOf(recorded, await supersededBy(runs, file, all)),
				totals: recorded?.state.totals(),
			};
		}
	};
	const shape = {
		columns: COLUMNS,
		cells: ({ run, command, state, totals, manifest }: Line) => [
			run,
			command,
			state,
			...(totals === undefined
				? ["", "", "", ""]
				: [totals.rows, doneOf(totals), totals.failed, totals.pending].map(String)),
			manifest,
		],
		json: ({ totals, ...line }: Line) =>
			JSON.stringify({
				...line,
				rows: totals?.rows ?? null,
				done: totals === undefined ? null : doneOf(totals),
				failed: totals?.failed ?? null,
				pending: totals?.pending ?? null,
			}),
		// Nearly the sum of done, failed and pending.
		spare: ["rows"],
	};
	const format = flags.format ?? (flags.json === true ? "jsonl" : undefined);
	await printList(lines(), shape, format, app);
	return Exit.ok;
}

function doneOf({ updated, unchanged, uploaded, removed }: Totals): number {
	return updated + unchanged + uploaded + removed;
}
