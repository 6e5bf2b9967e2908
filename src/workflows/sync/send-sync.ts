import { createHash } from "node:crypto";
import { CliError, Exit, type ExitCode } from "../../errors.ts";
import type { SyncTarget } from "../../plan/plan-file/lines.ts";
import { wholeList } from "../../run/documents/list.ts";
import { FOREIGN } from "../../run/operations/namesakes.ts";
import { readBack } from "../../run/retry/retry.ts";
import { NOT_LISTED } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { type ParseFlags, parsingWanted } from "../../flags/parse-flags.ts";
import type { Run } from "../open-run.ts";
import type { PlannedRow, PlanSource } from "../plan/plan-rows.ts";
import { forceHint, type PlanRules, previewPlanned, rulesOfPlan, sendPlanned } from "../plan/planned.ts";
import { policyPrescan } from "../policy/prescan.ts";
import type { RunRecord } from "../run/open-record.ts";
import { failRows } from "../run/changed-since.ts";
import { runRows } from "../run/run-rows.ts";
import { lockContent } from "../../run/recorded/run-lock.ts";
import { foldRecord } from "./fold.ts";
import { prepareState, readStateFile } from "./state-file.ts";

/** The code of a removal that is not sent because another row failed. */
const HELD_BACK = "HELD_BACK";

export function syncRules(run: Run, sync: SyncTarget): PlanRules {
	believeNone(run, sync);
	return { ...rulesOfPlan(run, "merge"), mustKnow: true, root: sync.root };
}

/** Believes lists without metadata where no sync has ever seen or written any, until a document shows some. */
export function believeNone({ session }: Pick<Run, "session">, sync: SyncTarget | undefined): void {
	if (sync?.isUntagged === true) session.service.searches.isNoneBelieved = true;
}

/** Two syncs of one state would store files twice. @throws CliError exit 5 where another one goes on, 7 where the state can't be written */
export async function lockSync(
	{ flags, settings, app }: Pick<Run, "settings" | "app"> & { readonly flags: Pick<Run["flags"], "force"> },
	{ state, datasetId }: Pick<SyncTarget, "state" | "datasetId">,
): Promise<AsyncDisposable> {
	await prepareState(state);
	const sha256 = createHash("sha256").update(`sync\0${state}`).digest("hex");
	const work = { manifest: { sha256 }, options: { dataset: datasetId }, name: "this folder" };
	return await lockContent(work, { runs: app.runs(settings), force: flags.force === true });
}

/** Refuses a plan that was made from another state than there is now. @throws CliError exit 8 */
export async function refuseOtherState(target: SyncTarget, baseUrl: string): Promise<void> {
	const { sha256 } = await readStateFile(target.state, { ...target, baseUrl });
	if (sha256 === target.was) return;
	throw new CliError("another sync of this folder has run since the plan was made; nothing was sent", {
		exit: Exit.foreign,
		hint: "Make the plan again: ragtag docs sync --out.",
	});
}

/** Sends the steps of a sync: the removals after all others, and none where another step failed. Then writes the state. */
export async function sendSync(
	run: Run<RunFlags & ParseFlags>,
	rows: PlanSource,
	target: SyncTarget,
): Promise<ExitCode> {
	const parsing = parsingWanted(run.session, run.flags);
	const hasTrash = rows.options["trash"] === true;
	const rules = { ...syncRules(run, target), parsing, hasTrash };
	const allowed = await policyPrescan(run, rows, previewPlanned(rules));
	return await runRows(run, allowed, sendPlanned(run, rules), {
		hasSent: () => parsing?.hasStarted === true,
		last: {
			isLast: ({ planned }) => planned.action === "remove",
			before: async (record) => {
				await failUnlisted(record, target);
				await holdBack(record);
			},
		},
		ending: async (record) => {
			const folded = await foldRecord(record, target);
			return { next: forceHint(record) ?? nextOfFailed(record), ...folded };
		},
	});
}

function nextOfFailed({ journal }: RunRecord<PlannedRow>): string | undefined {
	return journal.totals().failed === 0 ? undefined : "Mend what is said above; the same command then syncs the rest.";
}

/** Fails the uploads that the list does not show: a service may answer success and keep nothing. */
async function failUnlisted(record: RunRecord<PlannedRow>, { datasetId }: SyncTarget): Promise<void> {
	const { run, name, journal } = record;
	if (journal.totals().uploaded === 0) return;
	const recorded = await run.app.runs(run.settings).journal(name);
	const missing = new Map<string, number>();
	for await (const { status, documentId, row } of recorded?.outcomes() ?? []) {
		if (status === "uploaded") missing.set(documentId, row);
	}
	const { service, request } = run.session;
	const api = await service.known(request);
	const areListed = async (): Promise<boolean> => {
		for await (const { id } of wholeList({ api, request, datasetId })) missing.delete(id);
		return missing.size === 0;
	};
	run.app.monitor.enter("reading", "the documents of the dataset");
	if (await readBack(areListed, service)) return;
	const documents = new Map(Array.from(missing, ([id, row]) => [row, id]));
	await failRows(record, ({ index }) => {
		const documentId = documents.get(index);
		if (documentId === undefined) return undefined;
		const text = `the service answered that the file is document ${show(documentId)}, and the dataset does not list it; a further sync uploads it again`;
		return { documentId, error: { code: NOT_LISTED, text } };
	});
}

/** Fails the removals where another row failed, unless for documents of others. */
async function holdBack(record: RunRecord<PlannedRow>): Promise<void> {
	const { journal } = record;
	const failed = journal.totals().failed - journal.state.failedWith(FOREIGN);
	if (failed <= 0) return;
	const text = `not removed, because ${failed === 1 ? "another row" : `${failed} other rows`} failed`;
	const held = { error: { code: HELD_BACK, text }, isUntouched: true };
	await failRows(record, ({ index, planned }) =>
		planned.action !== "remove" || journal.isSettled(index) ? undefined : held,
	);
}
