import type { Row } from "../../manifest/types.ts";
import { type NewerRun, type NewerRuns, newerRuns } from "../../run/newer/newer-runs.ts";
import { CONFLICT } from "../../run/operations/planned.ts";
import { refuseNewer } from "../../run/operations/operation.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { RunStore } from "../../run/recorded/run-store.ts";
import type { Recorder } from "../../run/recorded/recorder.ts";
import { type RowError, SUPERSEDED } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import type { PreviewRow } from "../effect.ts";
import type { RowSource } from "../rows/row-source.ts";
import { undoneRunOf } from "../../run/recorded/unfinished.ts";

/** How a run goes on: whether it is taken back, and whether `--force` sends all rows. */
type Mode = { readonly isUndo?: boolean; readonly isForced: boolean };

/** The rows of a run that goes on, against what newer runs have touched since. */
export type NewerRows = NonNullable<Awaited<ReturnType<typeof newerRowsOf>>>;

/**
 * What newer runs have touched, for a run that is resumed, retried or taken back.
 *
 * @param mode of an undo: what others found unchanged is no conflict then
 * @throws CliError 7 or 8 where a newer run can't be read, so that it is not known what it wrote
 */
export async function newerRowsOf(
	store: RunStore,
	file: RunFile,
	all: readonly RunFile[],
	{ isUndo = undoneRunOf(file) !== undefined, isForced }: Mode,
) {
	// A download shall read the values that newer runs have written.
	if (file.command === PURPOSES.download.command) return undefined;
	try {
		const runs = await newerRuns(store, file, all, isUndo);
		/** Why a row is not sent: another run has touched its document since. undefined where it may be sent. */
		const errorOf = (datasetId: string, documentId: string): RowError | undefined => {
			if (documentId === "" || runs.isEmpty || isForced) return undefined;
			const newer = isUndo ? runs.writer(datasetId, documentId) : runs.toucher(datasetId, documentId);
			if (newer === undefined) return undefined;
			const { run, baseUrl, isWrite } = newer;
			const did = isWrite ? "written since by" : "found unchanged since by";
			// Copies of a service share ids: then the message must show that the two runs went to two addresses.
			const isElsewhere = baseUrl !== file.baseUrl;
			const where = isElsewhere ? ` at ${show(baseUrl)}, while this run writes to ${show(file.baseUrl)}` : "";
			const text = `document ${show(documentId)} was ${did} run ${run}${where}; left alone`;
			return { code: isUndo ? CONFLICT : SUPERSEDED, text };
		};
		return { errorOf, runs };
	} catch (error) {
		if (isForced) return undefined;
		throw error;
	}
}

/** `69 by run X`: the documents of rows that count as done and were written again since. undefined where there is none. */
export function writtenAgainText({ runs }: NewerRows): string | undefined {
	const counts = [...runs.writtenAgain()].map(([run, count]) => `${numberText(count)} by run ${run}`);
	if (counts.length === 0) return undefined;
	return `Documents that this run has written were written again since: ${counts.join(", ")}. Their rows count as done.`;
}

/** The documents of these rows that other runs have found unchanged since, by run. */
export async function unchangedText({ runs }: NewerRows, rows: Pick<RowSource, "read">): Promise<string> {
	if (runs.isEmpty) return "";
	const counts = await touchCounts(runs, rows, ({ isWrite }) => !isWrite);
	return Array.from(
		counts,
		([run, count]) => `Run ${run} has since found ${documentsText(count)} of it unchanged.`,
	).join(" ");
}

/**
 * The rows that may be sent. A row whose document a newer run has touched fails here: it takes no place in flight, and
 * sends nothing.
 */
export async function* withoutNewer<SourceRow extends Row>(
	chunks: AsyncIterable<SourceRow[]>,
	newer: NewerRows,
	journal: Pick<Recorder<SourceRow>, "record" | "earlier">,
): AsyncGenerator<SourceRow[]> {
	for await (const chunk of chunks) {
		const rows: SourceRow[] = [];
		const settled: Promise<void>[] = [];
		for (const item of chunk) {
			// The document of an upload is known where an earlier execution stored its file.
			const documentId =
				item.documentId === "" ? (journal.earlier(item.index)?.stored?.documentId ?? "") : item.documentId;
			const error = newer.errorOf(item.datasetId, documentId);
			if (error === undefined) rows.push(item);
			else {
				const outcome = { item, status: "failed", documentId, error, isUntouched: true, attempts: 0 } as const;
				settled.push(journal.record(outcome));
			}
		}
		await Promise.all(settled);
		if (rows.length > 0) yield rows;
	}
}

/** The same preview, in which a row fails that an undo would leave alone. */
export function unlessNewer<SourceRow extends Row>(
	newer: NewerRows | undefined,
	previewRow: PreviewRow<SourceRow>,
): PreviewRow<SourceRow> {
	return async (row, session, documents) => {
		refuseNewer({ newerRun: (dataset, id) => newer?.errorOf(dataset, id) }, row, row.documentId);
		return await previewRow(row, session, documents);
	};
}

/** Why `--resume` begins anew: newer runs have touched documents of these rows. undefined where none has. */
export async function touchedSince(
	runs: RunStore,
	file: RunFile,
	rows: Pick<RowSource, "read">,
): Promise<string | undefined> {
	const newer = await newerRuns(runs, file, await runs.files());
	if (newer.isEmpty) return undefined;
	const counts = await touchCounts(newer, rows, () => true);
	if (counts.size === 0) return undefined;
	return [...counts].map(([run, count]) => `run ${run} has touched ${documentsText(count)} of it since`).join(", ");
}

/** The number of documents of these rows that newer runs have touched, by run. */
async function touchCounts(
	newer: NewerRuns,
	rows: Pick<RowSource, "read">,
	isCounted: (by: NewerRun) => boolean,
): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>();
	for await (const { datasetId, documentId } of rows.read()) {
		const by = newer.toucher(datasetId, documentId);
		if (by !== undefined && isCounted(by)) counts.set(by.run, (counts.get(by.run) ?? 0) + 1);
	}
	return counts;
}
