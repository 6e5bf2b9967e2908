import { CliError, Exit } from "../../errors.ts";
import { PROCESS_FILE } from "../../run/recorded/adjust-file.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { datasetIn } from "../../run/recorded/run-lock.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import { show } from "../../text/show.ts";
import {
	ownerStateOf,
	type OwnerState,
	type Processes,
	readOwner,
	thisMachine,
} from "../../run/storage/process-owner.ts";

/** The process that executes a run, or did. */
type Execution = {
	readonly state: OwnerState;
	/** ISO time at which it began to */
	readonly since: string;
};

/** The process that executes a run, and whether it still does; undefined where none has said that it does. */
export async function ownerOfExecution(
	run: string,
	runs: RunStore,
	processes: Processes,
): Promise<Execution | undefined> {
	const owner = readOwner((await runs.readFile(run, PROCESS_FILE)) ?? "");
	if (owner === undefined) return undefined;
	const here = thisMachine(processes);
	return { state: ownerStateOf(owner, here, here.processOf(owner.pid)), since: owner.since };
}

/** Whether the process that executes a run still does; undefined where no process has said that it does. */
export async function executionOf(run: string, runs: RunStore, processes: Processes): Promise<OwnerState | undefined> {
	return (await ownerOfExecution(run, runs, processes))?.state;
}

/** The one run that is going on in a process of this machine. @throws CliError exit 2 where there is none, or several */
export async function runGoingOn(runs: RunStore, processes: Processes): Promise<string> {
	const found: string[] = [];
	for (const run of await runs.names()) {
		if ((await executionOf(run, runs, processes)) === "running") found.push(run);
	}
	const [only, ...others] = found;
	if (only !== undefined && others.length === 0) return only;
	if (only === undefined) {
		throw new CliError("no run is going on", {
			exit: Exit.usage,
			hint: "ragtag runs list shows all runs; ragtag runs resume RUN --rate N resumes one at another rate.",
		});
	}
	throw new CliError(`${found.length} runs are going on: ${found.join(", ")}`, {
		exit: Exit.usage,
		hint: `Name the run that you mean: ragtag runs adjust ${only}. ragtag runs list shows what each of them does.`,
	});
}

/** Other runs that write the same dataset at this moment, a sentence for each. */
export async function runsOnDataset(
	options: RunFile["options"],
	own: string,
	all: readonly RunFile[],
	{ runs, processes }: { readonly runs: RunStore; readonly processes: Processes },
): Promise<readonly string[]> {
	const dataset = datasetIn({ options });
	const others = all.filter((file) => dataset !== "" && file.run !== own && datasetIn(file) === dataset);
	const notes: string[] = [];
	for (const { run, command, manifest } of others) {
		if ((await executionOf(run, runs, processes)) !== "running") continue;
		const which = `Run ${run} (${command}, ${show(manifest.name)})`;
		notes.push(`${which} is going on and writes the same dataset: of two writes to one document, the later one stays.`);
	}
	return notes;
}
