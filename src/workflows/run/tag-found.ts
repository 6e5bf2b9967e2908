import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { checkSettings } from "../../manifest/index.ts";
import type { Mode } from "../../plan/change.ts";
import { unsentTotals } from "../../run/journal/memory-journal.ts";
import { documentsText } from "../../text/words.ts";
import { show } from "../../text/show.ts";
import { manifestOptions } from "../check/check-rows.ts";
import { checkFailedPath } from "./failed-file.ts";
import { withSession } from "../../flags/flags.ts";
import { type CheckedRun, type ManifestRunFlags, runChecked } from "./manifest-run.ts";
import { report } from "./run-report.ts";
import type { RunItem } from "../rows/row-source.ts";
import { printVersionLine } from "../version-line.ts";
import { type FilterFlags, filterText } from "../rows/document-filter.ts";
import { findDocuments } from "../rows/found-documents.ts";

/** Flags that say how a manifest is read, by the names of their values. */
export const READING_FLAGS = {
	map: "--map",
	ignore: "--ignore",
	empty: "--empty",
	onDuplicate: "--on-duplicate",
} as const;

/** Flags of `docs tag` with a filter in place of a manifest. */
type FoundFlags = ManifestRunFlags & FilterFlags & { readonly mode: Mode; readonly readingFlags?: readonly string[] };

/** @throws CliError exit 2 for flags that have no meaning with a filter, or do harm with it */
export function checkFilterFlags({ mode, set = [], resume, readingFlags = [] }: FoundFlags): void {
	const wrong = (text: string, hint: string): CliError =>
		new CliError(`${text}; nothing was sent`, { exit: Exit.usage, hint });
	const [reading] = readingFlags;
	if (reading !== undefined) {
		throw wrong(`${reading} says how a manifest is read, and a filter reads none`, `Leave ${reading} out.`);
	}
	if (set.length === 0) {
		throw wrong(
			"a filter selects documents, and no --set gives values for them",
			"Add --set KEY=VALUE, once for each key.",
		);
	}
	if (mode !== "merge") {
		throw wrong(
			"--mode replace would give every document that the filter finds only the metadata of --set, and remove all other keys",
			"Add --mode merge: it keeps the keys that --set does not name.",
		);
	}
	if (resume === true) {
		throw wrong(
			"--resume needs the same documents, and a filter may find others by now",
			"Resume the run with the documents that it found: ragtag runs resume",
		);
	}
}

/**
 * Writes the same metadata onto every document that a filter finds. The documents are listed first, and the run uses that
 * list. A recorded run keeps their ids, and is resumed with them.
 */
export async function runFound<Item extends RunItem>(
	run: CheckedRun<Item>,
	flags: FoundFlags,
	app: App,
): Promise<ExitCode> {
	const { io, clock } = app;
	if (flags.json === true) await printVersionLine(app);
	return withSession(flags, app, async (session, settings) => {
		const dataset = flags.dataset ?? settings.dataset?.value;
		if (dataset === undefined) {
			throw new CliError("a filter needs a dataset; nothing was sent", {
				exit: Exit.usage,
				hint: "Name it with -d DATASET; `ragtag datasets list` shows all datasets.",
			});
		}
		if (flags.failed !== undefined) await checkFailedPath(flags.failed, "-");
		const options = await manifestOptions(run.purpose, flags, settings);
		await checkSettings(options);
		const started = clock.now();
		const found = await findDocuments(flags, dataset, session, settings, app);
		try {
			const name = filterText(flags);
			if (found.count === 0) io.note(`no document of dataset ${show(dataset)} meets the filter: ${name}`);
			else {
				const meet = found.count === 1 ? "meets" : "meet";
				io.note(`${documentsText(found.count)} of dataset ${show(dataset)} ${meet} the filter: ${name}`);
			}
			if (found.count === 0 && run.instead === undefined) {
				const totals = unsentTotals({ rows: 0, invalid: 0, duplicateSkipped: 0 });
				return await report({ totals, seconds: (clock.now() - started) / 1000, stop: undefined }, flags, app);
			}
			const made = { path: found.path, name };
			return await runChecked(run, made, options, { ...flags, allowEmpty: true }, session, settings, app);
		} finally {
			await found.close();
		}
	});
}
