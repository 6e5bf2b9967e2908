import { changeOf } from "../../plan/change.ts";
import { metadataHash } from "../../plan/plan-file/planned.ts";
import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { CHANGE, changeFormatOptions, UNDECLARED } from "../../flags/change-flags.ts";
import { declare, Flag, toggle, type ValuesOf } from "../../flags/declare.ts";
import { MANIFEST, OUTPUTS, ROWS, SET, validityOptions, TYPE_CHANGE } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";
import { parseOut } from "../../flags/values.ts";
import { openRun, type Run } from "../../workflows/open-run.ts";
import { openPlanWriter, type PlanWriter } from "../../workflows/plan/write-plan.ts";
import { changePrinter, type ChangeSink } from "../../workflows/preview/change-printer.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { checkOut } from "../../workflows/outputs/out-file.ts";
import { endIfMetadataHidden } from "../../workflows/readable.ts";
import { type ManifestReadFlags, manifestRows } from "../../workflows/rows/manifest-rows.ts";
import { previewUpdate } from "../../workflows/update.ts";
import { REFUSE, WARN } from "../../run/documents/searches.ts";

const OPTIONS = {
	...ROWS,
	...CHANGE,
	...TYPE_CHANGE,
	...UNDECLARED,
	...changeFormatOptions("prints the changes, too: "),
	...MANIFEST,
	...SET,
	...OUTPUTS,
	...validityOptions("plans"),
	out: new Flag<string, true>("-o, --out <file>", "file for the plan, written once it is complete")
		.argParser(parseOut)
		.makeOptionMandatory(),
	force: toggle("--force", "replaces an existing file"),
	detailedExitcode: toggle("--detailed-exitcode", "exit 10 if anything would change"),
};

type PlanOptions = ManifestReadFlags & ValuesOf<typeof OPTIONS> & { readonly manifest: string };

export const planCommand = declare({
	summary: "write a plan of what docs tag would change",
	description:
		"Writes a plan of what docs tag would change, document by document, for review. docs apply sends exactly that plan.",
	examples:
		"ragtag docs plan tags.csv -d DATASET --out plan.jsonl\nragtag docs plan tags.csv --mode merge --out plan.jsonl\nragtag docs apply plan.jsonl",
	arguments: { "<manifest>": "CSV, JSON array, JSON lines or .xlsx, gzipped or not; - reads standard input" },
	options: OPTIONS,
	run: plan,
});

async function plan(options: PlanOptions, app: App): Promise<ExitCode> {
	const { manifest, out, mode, deleteToken, force = false } = options;
	await checkOut(out, force);
	await using run = await openRun("docs plan", options, app);
	const update = { change: changeOf(mode, deleteToken), onlyChanged: true };
	await using rows = await manifestRows(run, manifest, { purpose: "tag", alreadyPresent: update.change });
	await endIfMetadataHidden(run, rows, "docs plan");
	const source = { name: rows.name, sha256: rows.content.sha256, rows: rows.rows };
	const header = { baseUrl: run.session.baseUrl, mode, manifest: source };
	await using writer = await openPlanWriter(out, force, header);
	return await preview(run, rows, previewUpdate(update), planSink(run, writer));
}

const UNDECLARED_NEXT = "Add a row for each document that has none, or remove it with ragtag docs rm.";

/** Writes each change into the plan, and with `--json` or `--format` shows it, too. */
function planSink({ flags: options, app }: Run<PlanOptions>, writer: PlanWriter): ChangeSink {
	const { out, json, format, undeclared, ...flags } = options;
	const printer = json === true || format !== undefined ? changePrinter(options, app) : undefined;
	const listing = printer ?? changePrinter(options, app);
	const apply = withFlags(`ragtag docs apply ${quoted(out)}`, flags);
	return {
		change: async (shown, { present, inexact, metadata }) => {
			const { line, datasetId, documentId, name, difference } = shown;
			const was = metadataHash(present, inexact);
			await writer.change({ action: "update", line, datasetId, documentId, name, was, metadata, difference });
			await printer?.change(shown);
		},
		undeclared: (document) => listing.undeclared(document),
		end: async (tally, { unchanged, failed, invalid }) => {
			await writer.end({ unchanged, failed });
			const isAll = failed + invalid === 0;
			let next: string | undefined;
			if (tally.documents > 0) {
				next = isAll ? `Send it with: ${apply}` : `Fix the other rows, or send what is planned with: ${apply}`;
			}
			await printer?.end(tally);
			const facts = format === undefined ? tally.texts() : [];
			if (undeclared !== undefined && tally.undeclared === 0)
				facts.push("Every document of these datasets is in a row.");
			facts.push(`The plan: ${out}`);
			const isUndeclared = undeclared === "fail" && tally.undeclared > 0;
			if (isUndeclared) next = [UNDECLARED_NEXT, next].filter((text) => text !== undefined).join(" ");
			// The last line of a failure names the next command.
			const isGood = isAll && !isUndeclared && options.detailedExitcode !== true;
			for (const fact of [...facts, isGood ? next : undefined]) {
				if (fact !== undefined) app.io.note(fact);
			}
			return next;
		},
		cut: async (tally) => printer?.cut(tally),
		// A planned merge holds what the document had.
		doubts: flags.mode === "merge" ? REFUSE : WARN,
		stopped: { text: "no plan was written", next: "Run the same command again." },
	};
}
