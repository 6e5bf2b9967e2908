import { countDone } from "../../outcomes.ts";
import type { App } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import { declare } from "../../flags/declare.ts";
import { addVerbosityOptions } from "../../flags/flags.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { shardIn, shardText } from "../../shard.ts";
import { durationText, localTimeText, TIME_WIDTH } from "../../text/words.ts";
import {
	addFormatOption,
	chosenFormat,
	type Format,
	printList,
	type TableColumn,
} from "../../workflows/lists/list-output.ts";
import { noteDamaged, type RunsFlags } from "../../workflows/recorded/choose-run.ts";
import { type ListedRun, listedRuns, goingMembers } from "../../workflows/recorded/run-state.ts";

type ListFlags = RunsFlags & { readonly format?: Format | undefined };

type Column = readonly [name: string, cell: (run: ListedRun) => string];

const COLUMNS: readonly Column[] = [
	["run", ({ file }) => file.run],
	["command", ({ file }) => file.command],
	["state", ({ state }) => state],
	["exit", ({ facts }) => cellOf(facts?.exitCode)],
	["rows", ({ facts }) => cellOf(facts?.totals.rows)],
	["done", ({ facts }) => cellOf(facts && countDone(facts.totals))],
	["failed", ({ facts }) => cellOf(facts?.totals.failed)],
	["pending", ({ facts }) => cellOf(facts?.totals.pending)],
	["started", ({ file }) => file.started.replace(/\.\d+Z$/, "Z")],
	["took", ({ facts }) => (facts === undefined ? "" : durationText(facts.seconds))],
	["manifest", ({ file }) => file.manifest.name + partOf(file)],
	["service", ({ file }) => file.baseUrl],
];

/** Columns of a table that a narrow terminal leaves out, the last first: a run is known by its name and its state. */
const SPARE = ["command", "started", "exit", "manifest", "failed", "done", "took", "pending", "rows", "service"];

/** Widths below which a time, a state or the name of a command can't be read. */
const READABLE: ReadonlyMap<string, number> = new Map([
	["started", TIME_WIDTH],
	["state", "failed rows".length],
	["manifest", 12],
]);

/** The columns of a table. Its times are those of this machine; the other formats have ISO times. */
const TABLE: readonly TableColumn<ListedRun>[] = COLUMNS.map(([name, cell]) => ({
	name,
	cell: name === "started" ? ({ file }: ListedRun) => localTimeText(new Date(file.started)) : cell,
	readable: READABLE.get(name),
	...(SPARE.includes(name) ? { spare: SPARE.indexOf(name) } : { isTyped: name === "run" }),
}));

export const listCommand = declare({
	summary: "list recorded runs, the newest first",
	description: "Lists the recorded runs, undos among them, the newest first.",
	examples:
		"ragtag runs list\nragtag runs list --json | jq 'select(.pending > 0)'\nragtag runs list --json | jq -r 'select(.exit_code == 0) | .ended' | head -1",
	declare: (command) => {
		command.option("--json", "JSON lines, the same as --format jsonl");
		addFormatOption(addVerbosityOptions(command));
	},
	run: list,
});

async function list(flags: ListFlags, app: App): Promise<ExitCode> {
	const settings = await app.settings(flags);
	const shape = {
		columns: COLUMNS.map(([name]) => name),
		cells: (run: ListedRun) => COLUMNS.map(([, cell]) => cell(run)),
		json: ({ file, state, facts, going }: ListedRun) =>
			JSON.stringify({
				run: file.run,
				command: file.command,
				manifest: file.manifest.name,
				state,
				rows: facts?.totals.rows ?? null,
				done: facts === undefined ? null : countDone(facts.totals),
				failed: facts?.totals.failed ?? null,
				pending: facts?.totals.pending ?? null,
				started: file.started,
				ended: facts?.ended ?? null,
				seconds: facts?.seconds ?? null,
				exit_code: facts?.exitCode ?? null,
				base_url: file.baseUrl,
				shard: file.options["shard"] ?? null,
				...goingMembers(going),
			}),
		table: () => TABLE,
	};
	const onRead = (done: number, total: number): void => app.monitor.lists.read("recorded runs", done, total);
	const runs = app.runs(settings);
	await printList(listedRuns(runs, app.processes, onRead), shape, chosenFormat(flags), app);
	noteDamaged(runs, flags, app);
	return Exit.ok;
}

/** ` (2/8)` for a shard, as its manifest is that of all of them. */
function partOf({ options }: RunFile): string {
	const shard = shardIn(options);
	return shard === undefined ? "" : ` (${shardText(shard)})`;
}

function cellOf(value: number | undefined): string {
	return value === undefined ? "" : String(value);
}
