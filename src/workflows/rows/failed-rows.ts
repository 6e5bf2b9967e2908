import { currentUserId, isOfAnotherUser } from "../../user-id.ts";
import { rowLine } from "../../report/summary.ts";
import { namedDocument, show } from "../../text/show.ts";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { reason } from "../../errors.ts";
import { isAbove } from "../../files/facts.ts";
import type { CheckedManifest, Row, RowFailure, RowPlace, SourceRecord } from "../../manifest/types.ts";
import { failedOutcomes } from "../../run/recorded/recorded-rows.ts";
import { type Outcome, SUPERSEDED, type Totals } from "../../run/types.ts";
import type { ReportContext } from "../report.ts";
import { isOfSystem, whyNotOpened } from "../outputs/prepare.ts";
import { fileOfLines, type RowSource } from "./row-source.ts";

/** Only the user may read failed rows: they have all columns of the manifest. */
const MODE = 0o600;
const OPEN_TO_OTHERS = 0o077;

/** Failed rows that are printed one by one: a million lines would hide everything else. */
const PRINTED = 20;

/** Rows of a manifest whose failures are in memory at a time: a hundred megabytes at most. */
const WINDOW = 500_000;

/**
 * Writes the failed rows of a run in the order of the manifest, with all their columns and the reason. It reads the journal
 * alone, so the file is the same whenever it is written. A run without a failed row leaves an older file as it is. Rows
 * that a newer run has made needless are left out: sent again, they would overwrite it.
 *
 * @param folder the run's
 * @param source `onFailed` sees each failed row
 * @returns why it could not be written
 */
export async function writeFailed(
	path: string,
	folder: string,
	source: Pick<CheckedManifest, "read" | "failedRows"> & {
		/** rows of the manifest that are of other shards */
		readonly otherRows?: number | undefined;
		readonly onFailed?: (row: Row, failure: RowFailure) => void;
	},
	{ failed, rows, superseded }: Pick<Totals, "failed" | "rows"> & { readonly superseded: number },
): Promise<string | undefined> {
	if (failed === superseded) return undefined;
	const file = failedWriter(path, source.failedRows);
	try {
		const placeOf = await rowPlaces(path);
		for (let from = 0; from < rows + (source.otherRows ?? 0); from += WINDOW) {
			const failures = await failedOutcomes(folder, from, from + WINDOW);
			if (failures.size === 0) continue;
			for await (const row of source.read()) {
				const { index, line, source: record } = row;
				const failure = failures.get(index);
				if (failure === undefined || failure.code === SUPERSEDED) continue;
				source.onFailed?.(row, { ...failure, line });
				await file.add(record, { ...failure, line }, placeOf(row));
			}
		}
	} catch (error) {
		await file.close();
		return reason(error);
	}
	return (await file.close())?.failure;
}

/** Prints failed rows as they end: the first as lines on standard error, with `--json` all as objects. */
export function failedRowReporter(
	{ flags, app: { io, runEnd } }: ReportContext,
	rows: Pick<RowSource, "name" | "linesOf" | "hasLines">,
): (outcome: Outcome) => Promise<void> {
	let count = 0;
	return async (outcome) => {
		if (outcome.status !== "failed") return;
		runEnd.failedRow(fileOfLines(rows), outcome);
		if (flags.json === true) await io.out(`${rowLine(outcome)}\n`);
		count += 1;
		const { item, error } = outcome;
		const place = rows.hasLines === false ? fileOfLines(rows) : `${fileOfLines(rows)}:${item.line}`;
		if (count <= PRINTED) io.err(`${place}: ${error?.code}: ${failureText(outcome)}`);
		if (count === PRINTED + 1) io.err("... more rows failed; the file of failed rows and --json have all of them");
	};
}

/** Why a row failed, with the name of its document where it is known: people know names, and commands take ids. */
function failureText({ item, name = item.name, documentId, error }: Outcome): string {
	const text = error?.text ?? "";
	if (name === undefined || text.includes(show(name))) return text;
	const id = show(documentId);
	const subject = `document ${id} `;
	// Elsewhere the id may stand in an answer of the service, which is quoted as it came.
	if (text.startsWith(subject)) return `document ${namedDocument(name, documentId)} ${text.slice(subject.length)}`;
	return `${namedDocument(name, documentId)}: ${text}`;
}

/** Writes failed rows. Without one an older file stays. @param path undefined where `--failed` was not given */
export function failedWriter(path: string | undefined, format: CheckedManifest["failedRows"]) {
	let file: FileHandle | undefined;
	let failure: string | undefined;
	return {
		/** Rows must come in the order of the manifest. Never rejects: a lost report must not end the work. */
		async add(source: SourceRecord, why: RowFailure, place?: RowPlace): Promise<void> {
			if (path === undefined || failure !== undefined) return;
			try {
				if (file === undefined) {
					file = await openReport(path);
					await file.appendFile(format.head);
				}
				await file.appendFile(format.row(source, why, place));
			} catch (error) {
				failure = reason(error);
			}
		},
		/** The file of the rows, or the reason why it could not be written; undefined if `--failed` was not given. */
		async close(): Promise<{ readonly path: string; readonly failure: string | undefined } | undefined> {
			await file?.close().catch((error: unknown) => (failure ??= reason(error)));
			return path === undefined ? undefined : { path, failure };
		},
	};
}

/** How a manifest at that path names the files of an upload's rows: relative to it where they lie below its folder. */
async function rowPlaces(manifest: string): Promise<(row: Row) => RowPlace | undefined> {
	const typed = dirname(resolve(manifest));
	const folder = await realpath(typed).catch(() => typed);
	return ({ file, datasetId }) => {
		if (file === undefined) return undefined;
		const path = relative(folder, file.path);
		return { file: isAbove(path) ? file.path : path, name: file.name, datasetId };
	};
}

/** Opens a report to write it anew, for its owner alone. It follows no links, and closes an existing file to others. */
async function openReport(path: string): Promise<FileHandle> {
	const why = await whyNotOpened(path);
	if (why !== undefined) throw new Error(why);
	const noFollow = isOfSystem(path) ? 0 : constants.O_NOFOLLOW;
	// It is emptied only when it is known to be this user's: another user may have replaced it meanwhile.
	const file = await open(path, constants.O_WRONLY | constants.O_CREAT | noFollow, MODE);
	try {
		const status = await file.stat();
		if (!status.isFile()) return file;
		if (isOfAnotherUser(status)) throw new Error("belongs to another user");
		if (currentUserId() !== -1 && (status.mode & OPEN_TO_OTHERS) !== 0) await file.chmod(MODE);
		await file.truncate();
		return file;
	} catch (error) {
		await file.close();
		throw error;
	}
}
