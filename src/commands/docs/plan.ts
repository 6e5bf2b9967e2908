import type { Command } from "commander";
import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { metadataHash, type PlanHeader } from "../../plan/plan-file/planned.ts";
import { VERSION } from "../../version.ts";
import { changePrinter } from "../../workflows/preview/change-columns.ts";
import { addChangeOptions, type ChangeFlags, checkChangeFlags, updatePlanOf } from "../../flags/change-flags.ts";
import { updateItemOf } from "../../workflows/rows/row-source.ts";
import type { Done } from "../../flags/declare.ts";
import { type ChangeSink, dryRun } from "../../workflows/preview/preview.ts";
import { addRowOptions, addManifestOptions, addSetOption, addValidityOptions } from "../../flags/flags.ts";
import { type ManifestReadFlags, withManifest } from "../../workflows/run/manifest-run.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import { checkOut, PlanWriter } from "../../workflows/plan/write-plan.ts";
import { previewUpdate } from "../../workflows/preview/preview-update.ts";
import { unreadable } from "../../workflows/readable.ts";
import { parseNonEmpty } from "../../flags/values.ts";

export type PlanOptions = ManifestReadFlags &
	ChangeFlags & {
		readonly manifest: string;
		readonly out: string;
		readonly force?: boolean;
		readonly detailedExitcode?: boolean;
	};

/** Declares the interface of `docs plan`. What it does is in `plan`. */
export function planCommand(docs: Command, app: App, done: Done, run = plan): void {
	const command = docs
		.command("plan")
		.summary("write a plan of what docs tag would change")
		.description(
			"Writes a plan of what docs tag would change, document by document, for review. docs apply sends exactly that plan.",
		)
		.argument("<manifest>", "CSV, JSON array or JSON lines, gzipped or not; - reads standard input")
		.requiredOption("--out <file>", "file for the plan, written once it is complete", parseNonEmpty)
		.option("--force", "replaces an existing file")
		.option("--detailed-exitcode", "exit 10 if anything would change")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs plan tags.csv -d DATASET --out plan.jsonl\n  ragtag docs plan tags.csv --mode merge --out plan.jsonl\n  ragtag docs apply plan.jsonl\n",
		);
	addRowOptions(addChangeOptions(command), "file for the rows that failed, to correct and use as a manifest");
	addValidityOptions(addSetOption(addManifestOptions(command)), "plans").action(async (manifest: string) => {
		done(await run({ ...command.optsWithGlobals<Omit<PlanOptions, "manifest">>(), manifest }, app));
	});
}

export async function plan(options: PlanOptions, app: App): Promise<ExitCode> {
	checkChangeFlags(options);
	const { manifest, out, mode, force = false, json = false } = options;
	await checkOut(out, { manifest, failed: options.failed, force });
	const update = updatePlanOf(options);
	return withManifest(
		{
			purpose: "tag",
			manifest,
			excuse: update,
			refuse: (source, session) => unreadable("docs plan", source, session, {}, app),
			use: async (source, session, settings) => {
				const { name, rows, kept } = source;
				const writer = await PlanWriter.create(out, force, {
					ragtag: VERSION,
					baseUrl: session.baseUrl,
					mode,
					manifest: { name, sha256: kept.sha256, rows },
					created: new Date().toISOString(),
				} satisfies PlanHeader);
				try {
					return await dryRun(
						{
							source,
							itemOf: updateItemOf,
							see: previewUpdate(update, true),
							tell: "failed",
							sink: sinkOf(writer, { ...options, json }, app),
						},
						options,
						session,
						settings,
						app,
					);
				} finally {
					await writer.close();
				}
			},
		},
		options,
		app,
	);
}

/** Writes each change into the plan, and with `--json` shows it, too. */
function sinkOf(writer: PlanWriter, options: PlanOptions, app: App): ChangeSink {
	const { out, json, ...flags } = options;
	const printer = json === true ? changePrinter("json", app) : undefined;
	const apply = withFlags(`ragtag docs apply ${quoted(out)}`, flags);
	let next: string | undefined;
	return {
		change: async (shown, { present, inexact, metadata }) => {
			const { line, datasetId, documentId, difference } = shown;
			const was = metadataHash(present, inexact);
			await writer.change({ action: "update", line, datasetId, documentId, was, metadata, difference });
			await printer?.change(shown);
		},
		end: async (tally, { unchanged, failed, invalid }) => {
			await writer.end({ unchanged, failed });
			const isAll = failed + invalid === 0;
			if (tally.documents > 0) {
				next = isAll ? `Send it with: ${apply}` : `Fix the other rows, or send what is planned with: ${apply}`;
			}
			const facts = [tally.text(), tally.removedText(), `The plan: ${out}`];
			// What fails says in its last line what to type next.
			for (const fact of [...facts, isAll && options.detailedExitcode !== true ? next : undefined]) {
				if (fact !== undefined) app.io.note(fact);
			}
		},
		get next() {
			return next;
		},
		stopped: { text: "no plan was written", next: "Run the same command again." },
	};
}
