import { printVersionLine } from "./report.ts";
import type { App, Session, Settings } from "../app.ts";
import { CliError, Exit } from "../errors.ts";
import type { Given, RunFlags, ServiceFlags } from "../flags/flags.ts";
import type { RunFile } from "../run/recorded/run-file.ts";
import { datasetId, requireDataset } from "./dataset.ts";
import { checkManifestOfRun } from "./outputs/prepare.ts";
import { targetOf } from "./recorded/choose-run.ts";

/** The parts that all steps of a command with rows share. Disposing of it closes its connections. */
export type Run<Flags = RunFlags> = AsyncDisposable & {
	/** as its run is recorded: `docs tag` */
	readonly command: string;
	readonly flags: Flags;
	readonly app: App;
	readonly settings: Settings;
	readonly session: Session;
	/** when `--max-duration` began, on the clock, where that was before the first row */
	readonly since?: number | undefined;
};

/** Flags that a session is opened with. */
type SessionFlags = ServiceFlags & Given<Pick<RunFlags, "body" | "concurrency" | "maxOutage" | "json">>;

type DatasetFlags = SessionFlags & Pick<RunFlags, "dataset">;

/**
 * Reads the settings and opens a session. With `--json` the version line comes first. The flags of the run have the id of
 * the dataset that `-d` or the profile names.
 *
 * @throws CliError exit 2 where there is no such dataset
 */
export async function openRun<Flags extends DatasetFlags>(
	command: string,
	flags: Flags,
	app: App,
): Promise<Run<Flags>> {
	if (flags.json === true) await printVersionLine(app);
	return withDatasetId(await connectRun(command, flags, app));
}

async function withDatasetId<Flags extends DatasetFlags>(run: Run<Flags>): Promise<Run<Flags>> {
	try {
		const dataset = await datasetId(run);
		return dataset === undefined ? run : { ...run, flags: { ...run.flags, dataset } };
	} catch (error) {
		await run.session.close();
		throw error;
	}
}

/** The same for a command that lists one dataset. @throws CliError exit 2 also where none is named */
export async function openDataset<Flags extends DatasetFlags>(
	command: string,
	flags: Flags,
	app: App,
): Promise<Run<Flags> & { readonly dataset: string }> {
	const run = await withDatasetId(await connectRun(command, flags, app));
	return { ...run, dataset: requireDataset(command, run.flags.dataset) };
}

/** Reads the settings and opens a session. It sends nothing. */
export async function connectRun<Flags extends SessionFlags>(
	command: string,
	flags: Flags,
	app: App,
): Promise<Run<Flags>> {
	const settings = await app.settings(flags);
	const session = await app.connect(settings, flags);
	return { command, flags, app, settings, session, [Symbol.asyncDispose]: () => session.close() };
}

/**
 * The same for a command about a recorded run, at the address that it wrote to.
 *
 * @throws CliError exit 2 where nothing gives an address, 8 where another one is given
 */
export async function connectTo<Flags extends SessionFlags>(
	verb: "verify" | "undo",
	file: RunFile,
	flags: Flags,
	app: App,
): Promise<Run<Flags>> {
	await checkManifestOfRun(app, file.manifest.path);
	const target = await targetOf(verb, file, flags, app);
	const run = await connectRun(`runs ${verb}`, { ...flags, ...target }, app);
	const { baseUrl } = run.session;
	if (baseUrl === file.baseUrl) return run;
	await run.session.close();
	throw new CliError(`run ${file.run} wrote to ${file.baseUrl}, and this would go to ${baseUrl}; nothing was sent`, {
		exit: Exit.foreign,
		hint: "Name its address with --base-url or --profile.",
	});
}
