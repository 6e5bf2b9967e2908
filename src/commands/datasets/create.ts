import type { Command } from "commander";
import type { App, Session } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { allDatasets } from "../../run/pages.ts";
import { mayHaveBeenApplied } from "../../run/request.ts";
import { addServiceOptions, type ServiceFlags, withSession } from "../options/flags.ts";
import type { Done } from "../declare.ts";

export type CreateOptions = ServiceFlags & { readonly name: string };

/** Declares the interface of `datasets create`. What it does is in `create`. */
export function createCommand(datasets: Command, app: App, done: Done, run = create): void {
	const command = datasets
		.command("create")
		.summary("create a dataset, and print its id")
		.description("Creates a dataset, and prints its id alone.")
		.argument("<name>", "name of the dataset")
		.addHelpText("before", "Examples:\n  DATASET=$(ragtag datasets create handbooks)\n");
	addServiceOptions(command).action(async (name: string) => {
		done(await run({ ...command.optsWithGlobals<ServiceFlags>(), name }, app));
	});
}

export async function create(options: CreateOptions, app: App): Promise<ExitCode> {
	if (options.name.trim() === "") throw new CliError("the name of the dataset is empty", { exit: Exit.usage });
	return withSession(options, app, async (session) => {
		const id = await createOrFind(options.name, session);
		await app.io.out(`${id}\n`);
		return Exit.ok;
	});
}

/** Creates; where the answer was lost, looks instead of creating a second one. */
async function createOrFind(name: string, { api, request, requestOnce }: Session): Promise<string> {
	try {
		return (await requestOnce(() => api.createDataset(name))).id;
	} catch (error) {
		if (!mayHaveBeenApplied(error)) throw error;
		const found: string[] = [];
		for await (const dataset of allDatasets(api, request)) if (dataset.name === name) found.push(dataset.id);
		const [only] = found;
		if (only !== undefined && found.length === 1) return only;
		if (found.length === 0) throw error;
		throw new CliError(
			`the answer was lost, and there are ${found.length} datasets of that name: ${found.join(", ")}`,
			{
				exit: Exit.failedRows,
				hint: "One of them may be new: look at them with ragtag datasets list.",
				cause: error,
			},
		);
	}
}
