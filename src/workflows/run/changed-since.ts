import type { Row } from "../../manifest/types.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { sameValue } from "../../json/values.ts";
import { verdictOf } from "../../plan/verdict.ts";
import { type WrittenRow, writtenRows } from "../../run/recorded/recorded-rows.ts";
import { CHANGED_SINCE, type Outcome } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import type { RunRecord } from "./open-record.ts";

/**
 * Fails the rows that earlier executions had done, and whose documents no longer have what was sent. Only documents are
 * compared that a list of this execution has shown. Writes of newer runs are known, and no fault.
 */
export async function failChanged<SourceRow extends Row>(
	record: RunRecord<SourceRow>,
	documents: Pick<DocumentSource, "fromList" | "hasList">,
): Promise<void> {
	if (record.journal.totals().updated === 0 || !documents.hasList) return;
	const changed = await changedRows(record, documents);
	if (changed.size === 0) return;
	await failRows(record, ({ index, documentId }) => {
		if (!changed.has(index)) return undefined;
		const text = `document ${show(documentId)} no longer has what this run wrote; another client has changed it since`;
		return { error: { code: CHANGED_SINCE, text } };
	});
}

/** Fails the rows for which there is a reason, without another attempt. */
export async function failRows<SourceRow extends Row>(
	{ rows, journal }: RunRecord<SourceRow>,
	reasonOf: (row: SourceRow) => Partial<Pick<Outcome, "documentId" | "error" | "isUntouched">> | undefined,
): Promise<void> {
	for await (const item of rows.read()) {
		const why = reasonOf(item);
		if (why === undefined) continue;
		await journal.record({ item, status: "failed", documentId: item.documentId, attempts: 0, ...why });
	}
}

/** The rows that earlier executions had done, and whose documents are changed. */
async function changedRows<SourceRow extends Row>(
	{ run, rows, name, newer }: RunRecord<SourceRow>,
	documents: Pick<DocumentSource, "fromList">,
): Promise<ReadonlySet<number>> {
	const changed = new Set<number>();
	const recorded = await run.app.runs(run.settings).journal(name);
	if (recorded === undefined) return changed;
	const { order: present = 0 } = recorded.state.headers.at(-1) ?? {};
	const { normalise } = run.session.service.api.dialect.flavour;
	// A merge keeps the other keys as they are: they are not what the run wrote.
	const isMerge = rows.options["mode"] === "merge";
	for await (const written of writtenRows(recorded, normalise)) {
		const { order, status, datasetId, documentId } = written;
		if (order === present || status !== "updated" || newer?.runs.writer(datasetId, documentId) !== undefined) continue;
		const document = await documents.fromList(datasetId, documentId);
		if (document === undefined) continue;
		const { keys } = verdictOf(written, document.metadata ?? new Map(), normalise, document.inexact);
		if (keys.some((key) => !isMerge || isChangedBy(written, key))) changed.add(written.row);
	}
	return changed;
}

/** Whether a write gave a key another value than the document had; yes where that is not known. */
function isChangedBy({ metadata, before }: Pick<WrittenRow, "metadata" | "before">, key: string): boolean {
	const value = metadata.get(key);
	if (before === undefined || value === undefined) return before?.has(key) !== false;
	return !sameValue(value, before.get(key));
}
