import type { Row } from "../../manifest/types.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { answerOf } from "../../run/documents/pages.ts";
import type { RemoteDocument } from "../../run/documents/stored-documents.ts";
import { sameValue } from "../../json/values.ts";
import { verdictOf } from "../../plan/verdict.ts";
import { readRun } from "../../run/journal/reader.ts";
import { type WrittenRow, writtenRows } from "../../run/recorded/recorded-rows.ts";
import { CHANGED_SINCE } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import type { Run } from "../open-run.ts";
import type { RunRecord } from "./open-record.ts";

/** Rows of earlier executions that are read at most, unless one of them is changed: ten requests. */
const MOST_READ = 1_000;

/** Documents that a service gives by their ids in one request. */
const AT_ONCE = 100;

/** What the documents of done rows have now, as far as that is known. */
type Reader = (rows: readonly WrittenRow[]) => Promise<ReadonlyMap<string, RemoteDocument>>;

/**
 * Fails the rows that earlier executions had done, and whose documents no longer have what was sent. Only documents are
 * compared that a list of this execution has shown, or that the service gives by their ids: of many rows, some first.
 * Writes of newer runs are known, and no fault.
 *
 * @param mayAsk whether documents may be asked for, as the run came to its end
 */
export async function failChanged<SourceRow extends Row>(
	record: RunRecord<SourceRow>,
	documents: Pick<DocumentSource, "fromList" | "hasList">,
	mayAsk: boolean,
): Promise<void> {
	const { run, rows, journal } = record;
	const { updated } = journal.totals();
	if (updated === 0) return;
	const { list } = run.session.service.api.dialect.flavour;
	const mayRead = mayAsk && list.idsAtOnce >= AT_ONCE && run.flags.undo !== false;
	if (!documents.hasList && !mayRead) return;
	const read = documents.hasList ? listed(documents) : askedFor(run);
	const every = documents.hasList ? 1 : Math.ceil(updated / MOST_READ);
	let changed = await changedRows(record, read, every);
	if (changed.size > 0 && every > 1) changed = await changedRows(record, read, 1);
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

/** The rows whose documents are changed, of every so many that earlier executions had done. */
async function changedRows<SourceRow extends Row>(
	{ run, rows, name, newer }: RunRecord<SourceRow>,
	read: Reader,
	every: number,
): Promise<ReadonlySet<number>> {
	const changed = new Set<number>();
	const recorded = await readRun(run.app.runs(run.settings).path(name));
	if (recorded === undefined) return changed;
	const { order: present = 0 } = recorded.state.headers.at(-1) ?? {};
	const { normalise } = run.session.service.api.dialect.flavour;
	// A merge keeps the other keys as they are: they are not what the run wrote.
	const isMerge = rows.options["mode"] === "merge";
	const judge = async (chunk: readonly WrittenRow[]): Promise<void> => {
		const found = await read(chunk);
		for (const written of chunk) {
			const document = found.get(written.documentId);
			if (document === undefined) continue;
			const { keys } = verdictOf(written, document.metadata ?? new Map(), normalise, document.inexact);
			if (keys.some((key) => !isMerge || isChangedBy(written, key))) changed.add(written.row);
		}
	};
	let seen = 0;
	const chunk: WrittenRow[] = [];
	for await (const written of writtenRows(recorded, normalise)) {
		const { order, status, datasetId, documentId } = written;
		if (order === present || status !== "updated" || newer?.isOthers(datasetId, documentId) === true) continue;
		if (seen++ % every !== 0) continue;
		if (chunk.length === AT_ONCE || (chunk[0]?.datasetId ?? datasetId) !== datasetId) await judge(chunk.splice(0));
		chunk.push(written);
	}
	await judge(chunk);
	return changed;
}

function listed(documents: Pick<DocumentSource, "fromList">): Reader {
	return async (rows) => {
		const found = new Map<string, RemoteDocument>();
		for (const { datasetId, documentId } of rows) {
			const document = await documents.fromList(datasetId, documentId);
			if (document !== undefined) found.set(documentId, document);
		}
		return found;
	};
}

/** A document that the service does not show is unknown: no row fails for it. */
function askedFor({ session: { service, tryRequest } }: Run): Reader {
	return async (rows) => {
		const [first] = rows;
		if (first === undefined) return new Map();
		const ids = rows.map(({ documentId }) => documentId);
		const query = { page: 1, pageSize: ids.length, ids };
		try {
			const { items } = await tryRequest(() => service.api.listDocuments(first.datasetId, query));
			const sure = items.map((item) => service.searches.marked(item)).filter(({ isDoubted }) => isDoubted !== true);
			return new Map(sure.map((document) => [document.id, document]));
		} catch (error) {
			if (answerOf(error) === undefined) throw error;
			return new Map();
		}
	};
}

/** Whether a write gave a key another value than the document had; yes where that is not known. */
function isChangedBy({ metadata, before }: Pick<WrittenRow, "metadata" | "before">, key: string): boolean {
	const value = metadata.get(key);
	if (before === undefined || value === undefined) return before?.has(key) !== false;
	return !sameValue(value, before.get(key));
}
