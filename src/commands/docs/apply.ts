import type { Command } from "commander";
import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { isAsPlanned, keysChangedSince, overruled } from "../../plan/plan-file/rules.ts";
import { numberText } from "../../report/summary.ts";
import { MemoryJournal } from "../../run/journal.ts";
import { lookPlanned, type PlannedItem, type PlannedRules, writePlanned } from "../../run/operations/planned.ts";
import type { Present } from "../../run/present/present.ts";
import type { Stop } from "../../run/types.ts";
import { changePrinter } from "../change-faces.ts";
import { checkInput } from "../check-rows.ts";
import type { Done } from "../declare.ts";
import { dryRun, type Seen } from "../dry-run.ts";
import { checkFailedPath } from "../failed-file.ts";
import { addBodyOption, addResumeOption, addRunOptions, type RunFlags, withSession } from "../flags.ts";
import { withFlags } from "../next-command.ts";
import { type OpenedPlan, openPlan } from "../plans/open-plan.ts";
import { type PlannedRow, planRows } from "../plans/plan-rows.ts";
import { unreadable } from "../readable.ts";
import { report } from "../run-report.ts";
import { printVersionLine, type RunItem, runSource } from "../run-rows.ts";

export type ApplyOptions = RunFlags & {
	/** the plan; - reads standard input */
	readonly file: string;
	readonly dryRun?: boolean;
	readonly detailedExitcode?: boolean;
};

/** How a run of a plan is called. */
export const APPLY = "docs apply";

/** Declares the interface of `docs apply`. What it does is in `apply`. */
export function applyCommand(docs: Command, app: App, done: Done, run = apply): void {
	const command = docs
		.command("apply")
		.summary("send exactly what a plan says")
		.description(
			"Sends exactly what a plan says, and nothing else. A document that somebody changed since is left alone, and is a failed row.",
		)
		.argument("<file>", "what docs plan has written; - reads standard input")
		.option("--dry-run", "shows what the plan would change now, and sends nothing that writes")
		.option("--detailed-exitcode", "with --dry-run: exit 10 when something would change")
		.addHelpText(
			"before",
			"Examples:\n  ragtag docs apply plan.jsonl\n  ragtag docs apply plan.jsonl --dry-run\n  ragtag docs apply plan.jsonl --failed failed.jsonl\n",
		);
	addRunOptions(command, "changes documents too that somebody changed since; ");
	addResumeOption(addBodyOption(command), "plan").action(async (file: string) => {
		done(await run({ ...command.optsWithGlobals<Omit<ApplyOptions, "file">>(), file }, app));
	});
}

type ApplyItem = RunItem & PlannedItem;

export async function apply(options: ApplyOptions, app: App): Promise<ExitCode> {
	const { file, detailedExitcode = false, dryRun: isDry = false, json = false } = options;
	if (detailedExitcode && !isDry) {
		throw new CliError("--detailed-exitcode is about what --dry-run shows; nothing was sent", {
			exit: Exit.usage,
			hint: "Add --dry-run, or leave --detailed-exitcode out.",
		});
	}
	checkInput(file, options);
	if (json) await printVersionLine(app);
	return withSession(options, app, async (session, settings) => {
		if (options.failed !== undefined) await checkFailedPath(options.failed, file);
		const refuse = (stop: Stop, rows: number): Promise<ExitCode> => {
			const totals = new MemoryJournal({ rows, invalid: 0, duplicateSkipped: 0 }).totals();
			return report({ totals, seconds: 0, stop }, options, app);
		};
		const plan = await opened(file, settings, app);
		if ("exit" in plan) return refuse(plan, 0);
		try {
			const stop = foreign(plan, session) ?? (await unreadable(APPLY, planRows(plan), session, options, app));
			if (stop !== undefined) return await refuse(stop, plan.counts.changes);
			return await send(plan, options, session, settings, app);
		} finally {
			await plan.close();
		}
	});
}

/** Why the plan is none, as a stop that is reported like others. @throws CliError where it can't be read or kept */
async function opened(file: string, settings: Settings, app: App): Promise<OpenedPlan | Stop> {
	try {
		const temporaryFolder = await app.temporaryFolder(settings);
		return await openPlan(file, { stdin: app.stdin, temporaryFolder, actions: ["update"] });
	} catch (error) {
		if (!(error instanceof CliError) || error.exit !== Exit.foreign) throw error;
		return { exit: error.exit, text: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
	}
}

function foreign({ name, header }: OpenedPlan, { baseUrl }: Session): Stop | undefined {
	if (header.baseUrl === baseUrl) return undefined;
	return {
		exit: Exit.foreign,
		text: `${name}: the plan is for ${header.baseUrl}, and this would go to ${baseUrl}; nothing was sent`,
		hint: "Name its target with --base-url or --profile, or make a plan for this one.",
	};
}

async function send(
	plan: OpenedPlan,
	options: ApplyOptions,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	const { header, counts } = plan;
	const force = options.force === true;
	const source = planRows(plan);
	const rulesOf = (present: Present): PlannedRules => ({
		present,
		isAsPlanned,
		keysChangedSince,
		overruled: force ? (planned, now) => overruled(header.mode, planned, now) : undefined,
	});
	if (options.dryRun === true) {
		const see = async (item: ApplyItem, { service, request }: Session, present: Present): Promise<Seen> => {
			const looked = await lookPlanned(service, request, item, rulesOf(present));
			const { documentId } = item;
			if (looked.isSame) return { action: "none", documentId };
			return { action: "update", documentId, present: looked.present, metadata: looked.metadata };
		};
		const sink = changePrinter(options.json === true ? "json" : "text", app);
		return dryRun({ source, itemOf, see, tell: "failed", asksForEach: true, sink }, options, session, settings, app);
	}
	let conflicts = 0;
	const documents = `${numberText(counts.changes)} ${counts.changes === 1 ? "document" : "documents"}`;
	app.io.note(`To change: ${documents}, as planned from ${source.linesOf ?? source.name} at ${header.created}.`);
	const run = {
		source,
		itemOf,
		// A list would be cheaper, and as old as the run: what somebody changed meanwhile would be written over.
		asksForEach: true,
		operation: ({ service }: Session, log: Parameters<typeof writePlanned>[2], present: Present) =>
			writePlanned<ApplyItem>(service, rulesOf(present), log),
		onOutcome: ({ error }: { readonly error?: { readonly code: string } }) => {
			if (error?.code === "CONFLICT") conflicts += 1;
		},
		tell: "failed" as const,
		next: (run: string) =>
			conflicts === 0
				? undefined
				: `Documents that were changed since were left alone: make a plan anew, or overrule with: ${withFlags(`ragtag runs retry ${run} --force`, options)}`,
	};
	// The plan alone says what is sent.
	return runSource(run, { command: APPLY, settings, options: {} }, options, session, app);
}

function itemOf({ index, line, datasetId, documentId, source, planned }: PlannedRow): ApplyItem {
	if (planned.action !== "update") throw new Error(`line ${line} of a plan to write removes a document`);
	return { index, line, datasetId, documentId, source, planned };
}
