import type { App, Session, Settings } from "../../app.ts";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import { isAsPlanned, keptWhenOverruled, keysChangedSince, overruled } from "../../plan/plan-file/rules.ts";
import type { PlannedChange } from "../../plan/plan-file/types.ts";
import type { Undone } from "../../report/undone.ts";
import { MemoryJournal } from "../../run/journal.ts";
import {
	CONFLICT,
	doPlanned,
	lookPlanned,
	lookPlannedRemoval,
	type PlannedItem,
	type PlannedRules,
} from "../../run/operations/planned.ts";
import type { SentLog } from "../../run/operations/sent-log.ts";
import type { Present } from "../../run/present/present.ts";
import type { Stop, Totals } from "../../run/types.ts";
import { changePrinter } from "../looks/change-faces.ts";
import { type ChangeSink, dryRun } from "../looks/dry-run.ts";
import { type DryRunFlags, faceOf } from "../options/dry-run-flags.ts";
import type { RunFlags } from "../options/flags.ts";
import { withFlags } from "../options/next-command.ts";
import { lookPass } from "../policy/passes.ts";
import { unreadable } from "../looks/readable.ts";
import { faultStop } from "../rows/fault-stop.ts";
import { report } from "../rows/run-report.ts";
import { type RunItem, runSource } from "../rows/run-rows.ts";
import type { Seen } from "../looks/seen.ts";
import { type OpenedPlan, openPlan } from "./open-plan.ts";
import { type PlannedRow, planRows, type PlanSource } from "./plan-rows.ts";

/** How the changes of a plan are sent: as somebody approved them, or to take a run back. */
export type PlanKind = {
	/** how its run is recorded */
	readonly command: string;
	/** what may be planned */
	readonly actions: readonly PlannedChange["action"][];
	/** what messages call the plan; its path where it is undefined */
	readonly name?: string;
	/** each document is looked at right before it is written, whatever a list would cost */
	readonly asksForEach: boolean;
	/** whether the profile's policy is not asked: it would keep a run that broke it from being taken back */
	readonly isExempt: boolean;
	/** `the plan was made`: since when a change of somebody else's is a conflict */
	readonly since: string;
	/** whether a document is done only when it has what is planned as it stands */
	readonly isExact: boolean;
	/** until when, by the program's clock, a list may not show yet what was written before the plan; undefined where that is long ago */
	readonly lagsUntil?: number;
	/** rows that could not be planned are counted beside those that are done */
	readonly countsUnplanned: boolean;
	/** last word before the first request that writes: notes, and the question that may decline (a usage error) */
	readonly before: (plan: OpenedPlan, source: PlanSource) => Promise<void>;
	/** what it came to, told at its end */
	readonly undone?: (totals: Totals, conflicts: number) => Undone;
};

type PlanFlags = RunFlags & DryRunFlags;
type FailedWith = (code: string) => number;
type PlanItem = RunItem & PlannedItem;

/**
 * Checks a whole plan, then does what it says.
 *
 * A plan that was edited or cut, or is for another target, ends the command before its first request that writes.
 */
export async function runPlan(
	path: string,
	kind: PlanKind,
	flags: PlanFlags,
	session: Session,
	settings: Settings,
	app: App,
): Promise<ExitCode> {
	const refuse = (stop: Stop, rows: number): Promise<ExitCode> => {
		const totals = new MemoryJournal({ rows, invalid: 0, duplicateSkipped: 0 }).totals();
		return report({ totals, seconds: 0, stop }, flags, app);
	};
	const plan = await opened(path, kind, settings, app);
	if ("exit" in plan) return refuse(plan, 0);
	try {
		const source = planRows(plan, kind);
		const stop = foreign(plan, session) ?? (await unreadable(kind.command, source, session, flags, app));
		if (stop !== undefined) return await refuse(stop, source.rows);
		const run = { plan, source, kind, flags, session, settings, app };
		return await (flags.dryRun === true ? show(run) : send(run));
	} finally {
		await plan.close();
	}
}

/** A plan that is good, and all that it takes to do what it says. */
type PlanRun = {
	readonly plan: OpenedPlan;
	readonly source: PlanSource;
	readonly kind: PlanKind;
	readonly flags: PlanFlags;
	readonly session: Session;
	readonly settings: Settings;
	readonly app: App;
};

/** Why the plan is none, as a stop that is reported like others. @throws CliError where it can't be read or kept */
async function opened(path: string, { actions }: PlanKind, settings: Settings, app: App): Promise<OpenedPlan | Stop> {
	try {
		return await openPlan(path, { stdin: app.stdin, temporaryFolder: await app.temporaryFolder(settings), actions });
	} catch (error) {
		if (!(error instanceof CliError) || error.exit !== Exit.foreign) throw error;
		return faultStop(error);
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

function rulesOf(
	{ plan: { header }, kind: { since, isExact, lagsUntil = 0 }, flags, app: { clock, signal } }: PlanRun,
	present: Present,
): PlannedRules {
	return {
		isExact,
		catchUp: async () => {
			const wait = lagsUntil - clock.now();
			if (wait <= 0 || signal.aborted) return false;
			await clock.sleep(wait, signal);
			return true;
		},
		present,
		since,
		isAsPlanned,
		keysChangedSince,
		overruled:
			flags.force === true
				? {
						metadata: (planned, now) => overruled(header.mode, planned, now),
						keepsValue: (planned, key) => keptWhenOverruled(header.mode, planned, key),
					}
				: undefined,
	};
}

/** Looks at what a change of the plan would do now. */
function seeOf(run: PlanRun) {
	return async (item: PlanItem, { service, request }: Session, present: Present): Promise<Seen> => {
		const { documentId, planned } = item;
		const rules = rulesOf(run, present);
		if (planned.action === "remove") {
			const has = await lookPlannedRemoval(service, request, item, rules);
			if (has === undefined) return { action: "none", documentId };
			return { action: "remove", documentId, present: has, metadata: new Map() };
		}
		const looked = await lookPlanned(service, request, { ...item, planned }, rules);
		if (looked.isSame) return { action: "none", documentId };
		const { present: has, document, metadata } = looked;
		return { action: "update", documentId, present: has, inexact: document.inexact, metadata };
	};
}

function show(run: PlanRun): Promise<ExitCode> {
	const { source, kind, flags, session, settings, app } = run;
	const see = seeOf(run);
	const printer = changePrinter(faceOf(flags), app);
	let documents = 0;
	const sink: ChangeSink = {
		...printer,
		end: async (tally) => {
			documents = tally.documents;
			await printer.end(tally);
		},
		get next() {
			const force = "--force overrules what others changed since.";
			return documents === 0 ? force : `The same command without --dry-run makes these changes; ${force}`;
		},
	};
	const { asksForEach, isExempt } = kind;
	return dryRun({ source, itemOf, see, tell: "failed", asksForEach, isExempt, sink }, flags, session, settings, app);
}

async function send(planned: PlanRun): Promise<ExitCode> {
	const { plan, source, kind, flags, session, settings, app } = planned;
	const { command, asksForEach, isExempt, countsUnplanned, undone, before } = kind;
	const run = {
		source,
		itemOf,
		asksForEach,
		policyPass: isExempt ? undefined : lookPass({ itemOf, see: seeOf(planned) }),
		before: () => before(plan, source),
		operation: ({ service }: Session, log: SentLog, present: Present) =>
			doPlanned<PlanItem>(service, rulesOf(planned, present), log),
		tell: "failed" as const,
		undone: undone && ((totals: Totals, count: FailedWith) => undone(totals, count(CONFLICT))),
		next: (run: string, count: FailedWith, { failed, invalid }: Totals) => {
			if (count(CONFLICT) > 0) {
				const force = withFlags(`ragtag runs retry ${run} --force`, flags);
				return `Documents that were changed since were left alone; overrule that with: ${force}`;
			}
			if (!countsUnplanned) return undefined;
			// Rows that take a run back are not to be mended: fed to docs tag, one that removes a document would clear it.
			if (failed > 0) return `Try the rows that failed again: ${withFlags(`ragtag runs retry ${run}`, flags)}`;
			return invalid > 0 ? "The others were left as they are: ragtag docs list shows what they have." : undefined;
		},
	};
	// The plan alone says what is sent.
	return runSource(run, { command, settings, options: {} }, flags, session, app);
}

function itemOf({ index, line, datasetId, documentId, source, planned }: PlannedRow): PlanItem {
	return { index, line, datasetId, documentId, source, planned };
}
