import type {
	PlanHeader,
	PlannedChange,
	PlannedFailure,
	PlannedRemoval,
	PlannedUpdate,
} from "../../plan/plan-file/lines.ts";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { type JsonObject, metadataText } from "../../json/values.ts";
import { jsonFailedRows } from "../../manifest/failed-rows.ts";
import type { Row } from "../../manifest/types.ts";
import { type FileItem, plannedFailure } from "../../run/operations/planned-files.ts";
import type { Stop } from "../../run/types.ts";
import { shardText } from "../../shard.ts";
import type { Run } from "../open-run.ts";
import { stopIfMetadataHidden } from "../readable.ts";
import { endBefore, NO_ROWS } from "../report.ts";
import type { RowSource } from "../rows/row-source.ts";
import { stopFromError } from "../../run/stop/shutdown.ts";
import { isOfShard, type OpenedPlan, openPlan, type OpenPlanOptions } from "./open-plan.ts";

/** One change of a plan as a row. Its line is the line of the manifest that the plan was made from. */
export type PlannedRow = FileRow | FailingRow | DocumentRow;
export type FileRow = Row & FileItem;
type FailingRow = Row & { readonly planned: PlannedFailure };
export type DocumentRow = Row & { readonly planned: PlannedUpdate | PlannedRemoval };

/** Fails a row of which nothing can be sent. @throws RestError */
export function refuseFailing(row: FailingRow | DocumentRow): asserts row is DocumentRow {
	const { planned } = row;
	if (planned.action === "fail") throw plannedFailure(planned);
}

/** Whether a row is about a file of a sync. */
export function isFileRow(row: PlannedRow): row is FileRow {
	return "file" in row.planned;
}

export function isDocumentRow(row: PlannedRow): row is DocumentRow {
	return !isFileRow(row) && row.planned.action !== "fail";
}

/** The rows of a good plan. */
export type PlanSource = RowSource<PlannedRow> & { readonly header: PlanHeader };

/** The requirements of a command for a plan. */
export type PlanKind = Pick<OpenPlanOptions, "actions" | "shard"> & {
	/** what messages call the plan; its path where it is undefined */
	readonly name?: string | undefined;
	/** whether the rows that could not be planned are counted as invalid ones */
	readonly countsUnplanned: boolean;
	/** whether values of another type than their key has are sent */
	readonly allowTypeChange?: boolean | undefined;
	/** flags that say how files are sent, as a run records them */
	readonly options?: JsonObject | undefined;
};

/**
 * Checks a whole plan. One that was edited or cut, or is for another target, ends the command before its first request
 * that writes.
 *
 * @throws EarlyEnd for such a plan; CliError where it can't be read
 */
export async function planRows(run: Run, path: string, kind: PlanKind): Promise<PlanSource> {
	const { settings, app } = run;
	const options = { stdin: app.stdin, temporaryFolder: await app.temporaryFolder(settings), ...kind };
	const plan = await openPlan(path, options).catch((error: unknown) => {
		if (!(error instanceof CliError) || error.exit !== Exit.foreign) throw error;
		return endBefore(run, NO_ROWS, stopFromError(error));
	});
	try {
		const rows = rowsOfPlan(plan, kind);
		const stop = otherTarget(run, plan) ?? (await stopIfMetadataHidden(run, rows, run.command));
		return stop === undefined ? rows : endBefore(run, { ...NO_ROWS, rows: rows.rows }, stop);
	} catch (error) {
		await plan.close();
		throw error;
	}
}

/** The changes of a plan as rows. Those that fail are written as JSON lines that `docs tag` reads. */
export function rowsOfPlan(
	plan: OpenedPlan,
	{ name = plan.name, countsUnplanned, shard, allowTypeChange, options }: Omit<PlanKind, "actions">,
): PlanSource {
	const { header, counts, sha256, bytes, copy, own, rowsByDataset } = plan;
	const all = counts.changes + counts.unchanged + counts.failed;
	const invalid = countsUnplanned ? counts.failed : 0;
	return {
		header,
		name,
		hasLines: header.sync === undefined,
		linesOf: header.manifest.name === "-" ? "standard input" : header.manifest.name,
		rows: own + invalid,
		rowsByDataset,
		// A plan does not name the rows that change nothing. So a limit in percent is that of the whole plan, for each shard.
		outOf: counts.changes === 0 ? all : Math.round((all * own) / counts.changes),
		shard: shard && { ...shard, otherRows: counts.changes - own },
		invalid,
		duplicateSkipped: 0,
		async *read() {
			let index = 0;
			for await (const planned of plan.read()) {
				if (isOfShard(planned, shard)) yield rowOf(planned, index, header);
				index++;
			}
		},
		failedRows: jsonFailedRows(),
		content: { sha256, bytes, source: { copy } },
		// Besides, the plan alone says what is sent.
		options: {
			...(shard === undefined ? {} : { shard: shardText(shard) }),
			...(allowTypeChange === true ? { allowTypeChange: true } : {}),
			...options,
			...(header.sync === undefined ? {} : { dataset: header.sync.datasetId, sync: header.sync.state }),
		},
		[Symbol.asyncDispose]: () => plan.close(),
	};
}

function rowOf(planned: PlannedChange, index: number, { sync }: PlanHeader): PlannedRow {
	const { line, datasetId, documentId, name } = planned;
	const metadata = "metadata" in planned ? planned.metadata : new Map();
	if ("file" in planned) {
		const path = planned.file.at ?? join(sync?.root ?? "/", planned.file.path);
		const file = { path, name: planned.name };
		const members = `"file":${JSON.stringify(path)},"name":${JSON.stringify(planned.name)},"dataset_id":${JSON.stringify(datasetId)}`;
		const source = { text: `{${members},"meta_fields":${metadataText(metadata)}}` };
		return { index, line, datasetId, documentId, name: planned.name, file, metadata, source, planned };
	}
	const ids = `"document_id":${JSON.stringify(documentId)},"dataset_id":${JSON.stringify(datasetId)}`;
	// A row that is fed back without metadata would clear its document. This one is refused until it is filled in.
	const given = planned.action === "update" ? metadataText(metadata) : "null";
	const text = `{${ids}${planned.action === "remove" ? "" : `,"meta_fields":${given}`}}`;
	const row = { index, line, datasetId, documentId, name, file: undefined, metadata } as const;
	const source = { text };
	return planned.action === "fail" ? { ...row, source, planned } : { ...row, source, planned };
}

function otherTarget({ session: { baseUrl } }: Run, { name, header }: OpenedPlan): Stop | undefined {
	if (header.baseUrl === baseUrl) return undefined;
	return {
		exit: Exit.foreign,
		text: `${name}: the plan is for ${header.baseUrl}, and this would go to ${baseUrl}; nothing was sent`,
		hint: "Name its target with --base-url or --profile, or make a plan for this one.",
	};
}
