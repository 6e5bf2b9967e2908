import type { App } from "../app.ts";
import { CliError, Exit, type ExitCode } from "../errors.ts";
import type { Purpose } from "../manifest/types.ts";
import { MemoryJournal } from "../run/journal.ts";
import { checkAndTell, manifestOptions, refusal } from "./check-rows.ts";
import { checkFailedPath } from "./failed-file.ts";
import { type ManifestFlags, type RunFlags, withSession } from "./flags.ts";
import { printVersionLine, report, type RowRun, type RunItem, runSource, type RowSource } from "./run-rows.ts";

/** What a command adds to the run of a manifest. */
export type ManifestRun<Item extends RunItem> = Omit<RowRun<Item>, "source"> & {
	readonly purpose: Purpose;
	readonly manifest: string;
	/** last word before the first request: notes, and the question that may decline (a usage error) */
	readonly before?: (source: RowSource) => Promise<void>;
};

export type ManifestRunFlags = RunFlags & Partial<ManifestFlags> & { readonly filesRoot?: string };

/**
 * Checks a manifest, then runs its rows.
 *
 * Settings come first, then the whole manifest: exits 2 and 3 mean that no request was made at all.
 */
export async function runManifest<Item extends RunItem>(
	run: ManifestRun<Item>,
	flags: ManifestRunFlags,
	app: App,
): Promise<ExitCode> {
	if (run.manifest === "-" && flags.apiKeyFile === "-") {
		throw new CliError("standard input can't be both the manifest and the API key; nothing was sent", {
			exit: Exit.usage,
			hint: "Give the key in RAGTAG_API_KEY, or a path to --api-key-file.",
		});
	}
	if (flags.json === true) await printVersionLine(app);
	return withSession(flags, app, async (session, settings) => {
		if (flags.failed !== undefined) await checkFailedPath(flags.failed, run.manifest);
		const options = await manifestOptions(run.purpose, flags, settings);
		const source = await checkAndTell(run.manifest, options, flags.json === true, settings, app);
		try {
			const stop = refusal(source, flags, run.purpose);
			if (stop !== undefined) {
				return await report({ totals: new MemoryJournal(source).totals(), seconds: 0, stop }, flags, app);
			}
			await run.before?.(source);
			return await runSource({ ...run, source }, flags, session, app);
		} finally {
			await source.close();
		}
	});
}
