import { countDone } from "../../outcomes.ts";
import { Exit } from "../../errors.ts";
import { declare } from "../../flags/declare.ts";
import { VERBOSITY } from "../../flags/flags.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { shardIn, shardText } from "../../shard.ts";
import { durationText } from "../../text/words.ts";
import { chosenFormat, LIST, type ListColumn, printList, timeColumn } from "../../workflows/lists/list-output.ts";
import { noteDamaged } from "../../workflows/recorded/choose-run.ts";
import { type ListedRun, listedRuns, goingMembers } from "../../workflows/recorded/run-state.ts";

/** A narrow terminal leaves out the columns of the highest numbers first: a run is known by its name and its state. */
const COLUMNS: readonly ListColumn<ListedRun>[] = [
	{ name: "run", cell: ({ file }) => file.run, isTyped: true },
	{ name: "command", cell: ({ file }) => file.command, spare: 0 },
	{ name: "state", cell: ({ state }) => state, readable: "failed rows".length },
	{ name: "exit", cell: ({ facts }) => String(facts?.exitCode ?? ""), spare: 2 },
	{ name: "rows", cell: ({ facts }) => String(facts?.totals.rows ?? ""), spare: 8 },
	{ name: "done", cell: ({ facts }) => (facts === undefined ? "" : String(countDone(facts.totals))), spare: 5 },
	{ name: "failed", cell: ({ facts }) => String(facts?.totals.failed ?? ""), spare: 4 },
	{ name: "pending", cell: ({ facts }) => String(facts?.totals.pending ?? ""), spare: 7 },
	{ ...timeColumn("started", ({ file }: ListedRun) => file.started.replace(/\.\d+Z$/, "Z")), spare: 1 },
	{ name: "took", cell: ({ facts }) => (facts === undefined ? "" : durationText(facts.seconds)), spare: 6 },
	{ name: "manifest", cell: ({ file }) => file.manifest.name + partOf(file), readable: 12, spare: 3 },
	{ name: "service", cell: ({ file }) => file.baseUrl, spare: 9 },
];

export const listCommand = declare({
	summary: "list recorded runs, the newest first",
	description: "Lists the recorded runs, undos among them, the newest first.",
	examples:
		"ragtag runs list\nragtag runs list --json | jq 'select(.pending > 0)'\nragtag runs list --json | jq -r 'select(.exit_code == 0) | .ended' | head -1",
	options: { ...VERBOSITY, ...LIST },
	run: async (flags, app) => {
		const shape = {
			columns: COLUMNS,
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
		};
		const onRead = (done: number, total: number): void => app.monitor.lists.read("recorded runs", done, total);
		const runs = app.runs(await app.settings(flags));
		await printList(listedRuns(runs, onRead), shape, chosenFormat(flags), app);
		noteDamaged(runs, flags, app);
		return Exit.ok;
	},
});

/** ` (2/8)` for a shard, as its manifest is that of all of them. */
function partOf({ options }: RunFile): string {
	const shard = shardIn(options);
	return shard === undefined ? "" : ` (${shardText(shard)})`;
}
