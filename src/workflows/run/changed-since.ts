import type { Row } from "../../manifest/types.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { readRun } from "../../run/journal/reader.ts";
import { writtenRows } from "../../run/recorded/recorded-rows.ts";
import { holds } from "../../run/service/arrival.ts";
import { CHANGED_SINCE } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import type { RunRecord } from "./open-record.ts";

/**
 * Fails the rows that earlier executions had done, and whose documents no longer have what was sent. It sends nothing:
 * only documents that a list of this execution has shown are compared. Writes of newer runs are known, and no fault.
 */
export async function failChanged<SourceRow extends Row>(
	{ run, rows, name, journal, newer }: RunRecord<SourceRow>,
	documents: Pick<DocumentSource, "fromList" | "hasList">,
): Promise<void> {
	if (!documents.hasList) return;
	const { app, settings, session } = run;
	const recorded = await readRun(app.runs(settings).path(name));
	if (recorded === undefined) return;
	const { order: present = 0 } = recorded.state.headers.at(-1) ?? {};
	const { normalise } = session.service.api.dialect.flavour;
	const changed = new Set<number>();
	for await (const { row, order, status, datasetId, documentId, metadata } of writtenRows(recorded, normalise)) {
		if (order === present || status !== "updated" || newer?.isOthers(datasetId, documentId) === true) continue;
		const document = await documents.fromList(datasetId, documentId);
		if (document !== undefined && !holds(document, metadata, normalise)) changed.add(row);
	}
	if (changed.size === 0) return;
	for await (const item of rows.read()) {
		if (!changed.has(item.index)) continue;
		const { documentId } = item;
		const text = `document ${show(documentId)} no longer has what this run wrote; another client has changed it since`;
		await journal.changedSince({
			item,
			status: "failed",
			documentId,
			error: { code: CHANGED_SINCE, text },
			attempts: 0,
		});
	}
}
