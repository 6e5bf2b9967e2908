import type { Session } from "../../app.ts";
import { CliError, Exit, reason, usageError } from "../../errors.ts";
import { allDatasets } from "../../run/documents/pages.ts";
import { restErrorOf } from "../../run/retry/request.ts";
import { SERVICE } from "../../flags/flags.ts";
import { declare, toggle } from "../../flags/declare.ts";
import { connectRun } from "../../workflows/open-run.ts";

type Wanted = { readonly name: string; readonly ifMissing?: boolean | undefined };

export const createCommand = declare({
	summary: "create a dataset and print its id",
	description: "Creates a dataset and prints only its id. A name that is taken is exit 1.",
	examples: "DATASET=$(ragtag datasets create handbooks)\nDATASET=$(ragtag datasets create handbooks --if-missing)",
	arguments: { "<name>": "name of the dataset" },
	options: {
		...SERVICE,
		ifMissing: toggle("--if-missing", "if a dataset of that name exists: prints its id, and exits 0"),
	},
	run: async (options, app) => {
		if (options.name.trim() === "") throw usageError("the name of the dataset is empty");
		await using run = await connectRun("datasets create", options, app);
		const id = await idOf(options, run.session);
		await app.io.out(`${id}\n`);
		return Exit.ok;
	},
});

/**
 * The id of the dataset that is there or is created. A service may make a second one of a name: from then on `-d` can't take
 * that name.
 */
async function idOf({ name, ifMissing = false }: Wanted, session: Session): Promise<string> {
	const there = await named(name, session);
	const [only] = there;
	if (only === undefined) return createOrFind({ name, ifMissing }, session);
	if (ifMissing && there.length === 1) return only;
	throw taken(name, there, session);
}

/** The ids of the datasets of that name. */
async function named(name: string, { api, request }: Session): Promise<readonly string[]> {
	const found: string[] = [];
	for await (const dataset of allDatasets(api, request)) if (isNamed(dataset.name, name)) found.push(dataset.id);
	return found;
}

function failed(text: string, hint: string, cause?: unknown): CliError {
	return new CliError(text, { exit: Exit.failedRows, hint, cause });
}

function taken(name: string, ids: readonly string[], { service }: Session): CliError {
	const shown = ids.map((id) => service.show(id)).join(", ");
	const title = service.show(name);
	return ids.length > 1
		? failed(
				`there are ${ids.length} datasets named ${title}: ${shown}; nothing was created`,
				"Choose another name, or use one of them by its id.",
			)
		: failed(
				`a dataset named ${title} is there already, with the id ${shown}; nothing was created`,
				`Use it with -d ${shown}; --if-missing prints that id and exits 0.`,
			);
}

/** Creates a dataset. Where the answer was lost, it lists the datasets by name instead of creating a second one. */
async function createOrFind({ name, ifMissing }: Required<Wanted>, session: Session): Promise<string> {
	try {
		const made = await session.requestOnce(() => session.api.createDataset(name));
		if (!isNamed(made.name, name)) throw renamed(name, made, session);
		return made.id;
	} catch (error) {
		const kind = restErrorOf(error)?.kind;
		const isRefused = kind === "rejected";
		// Another client may have created it since it was searched for.
		if (isRefused && !(ifMissing && TAKEN.test(reason(error)))) throw refused(error, name);
		// A lost answer says nothing of its request.
		if (!isRefused && kind !== "ambiguous") throw error;
		const found = await named(name, session);
		const [only] = found;
		if (only !== undefined && found.length === 1) return only;
		if (found.length === 0) throw isRefused ? refused(error, name) : error;
		const text = `the answer was lost, and there are ${found.length} datasets of that name: ${found.join(", ")}`;
		throw failed(text, "One of them may be new: compare them with ragtag datasets list.", error);
	}
}

/** RAGFlow trims names (v0.18, api/apps/sdk/dataset.py), and a service may store another Unicode form. */
function isNamed(made: string, name: string): boolean {
	return made.normalize().trim() === name.normalize().trim();
}

/** From v0.22 on RAGFlow numbers a name that is taken (`create_with_name` in api/db/services/knowledgebase_service.py). */
function renamed(name: string, made: { readonly id: string; readonly name: string }, { service }: Session): CliError {
	const [id, madeName] = [service.show(made.id), service.show(made.name)];
	return failed(
		`the service made a dataset named ${JSON.stringify(madeName)}, not ${JSON.stringify(name)}, which is probably taken; its id is ${id}`,
		`Use it with -d ${id}, or remove it in the service's own interface: ragtag removes no datasets. ragtag datasets list shows both.`,
	);
}

/** The message of releases up to v0.21 about a name that is taken (api/apps/sdk/dataset.py). */
const TAKEN = /\b(?:duplicated?|already exists)\b/i;

function refused(error: unknown, name: string): CliError {
	const text = reason(error);
	const hint = TAKEN.test(text)
		? `Choose another name, or use the existing dataset: ragtag datasets list shows the id of ${JSON.stringify(name)}.`
		: "Check the name, which may have at most 128 characters, and the service (ragtag doctor).";
	return failed(text, hint, error);
}
