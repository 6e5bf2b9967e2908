import { metadataText } from "../../json/values.ts";
import { jsonFailedRows } from "../../manifest/index.ts";
import type { Row } from "../../manifest/types.ts";
import type { PlannedChange } from "../../plan/plan-file/planned.ts";
import type { RowSource } from "../rows/row-source.ts";
import type { OpenedPlan } from "./open-plan.ts";

/** A row that is one change of a plan. Its line is that of the manifest, by which the plan was looked at. */
export type PlannedRow = Row & { readonly planned: PlannedChange };

export type PlanSource = RowSource<PlannedRow>;

/**
 * The changes of a plan as rows. Those that fail are written as JSON lines that `docs tag` reads.
 *
 * @param name what messages call it, if not by its path
 * @param countsUnplanned counts the rows that could not be planned as invalid ones
 */
export function planRows(
	plan: OpenedPlan,
	{ name = plan.name, countsUnplanned }: { readonly name?: string; readonly countsUnplanned: boolean },
): PlanSource {
	const { header, counts, sha256, bytes, copy } = plan;
	const invalid = countsUnplanned ? counts.failed : 0;
	return {
		name,
		linesOf: header.manifest.name === "-" ? "standard input" : header.manifest.name,
		rows: counts.changes + invalid,
		outOf: counts.changes + counts.unchanged + counts.failed,
		invalid,
		duplicateSkipped: 0,
		problems: 0,
		fatal: false,
		async *read() {
			let index = 0;
			for await (const planned of plan.read()) yield rowOf(planned, index++);
		},
		failedRows: jsonFailedRows(),
		kept: { sha256, bytes, source: { copy } },
		close: () => plan.close(),
	};
}

function rowOf(planned: PlannedChange, index: number): PlannedRow {
	const { line, datasetId, documentId } = planned;
	const metadata = planned.action === "update" ? planned.metadata : new Map();
	const ids = `"document_id":${JSON.stringify(documentId)},"dataset_id":${JSON.stringify(datasetId)}`;
	const text = `{${ids}${planned.action === "update" ? `,"meta_fields":${metadataText(metadata)}` : ""}}`;
	return { index, line, datasetId, documentId, file: undefined, metadata, source: { kind: "json", text }, planned };
}
