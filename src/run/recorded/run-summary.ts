import type { Stats } from "node:fs";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { errorCode } from "../../errors.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import type { JsonObject, JsonValue } from "../../json/values.ts";
import { packedPath } from "../journal/files.ts";
import { JOURNAL_FILE } from "../journal/reader.ts";
import type { Totals } from "../types.ts";
import type { RunFile } from "./run-file.ts";
import { type RunStore, SUMMARY_FILE } from "./run-store.ts";

/** The end of a run's last execution. It is in the run's folder, so that a list of runs need not read journals. */
export type RunSummary = {
	/** ISO time */
	readonly ended: string;
	/** how long all executions took together */
	readonly seconds: number;
	readonly exitCode: number;
	readonly totals: Totals;
	/** whether any row may have been sent, in any execution */
	readonly wrote: boolean;
};

/** The facts from which a summary is written. */
export type NewSummary = {
	/** the object that the run prints at its end */
	readonly printed: JsonObject;
	readonly file: Pick<RunFile, "started" | "command" | "baseUrl"> & { readonly manifest: { readonly name: string } };
	readonly ended: Date;
	readonly wrote: boolean;
	/** bytes of the journal, whose last record is the end of this execution; undefined where it has no such record */
	readonly journalBytes: number | undefined;
};

/** Writes the summary of a run. The file is complete or absent. @throws an error of the storage */
export async function writeRunSummary(runs: RunStore, run: string, summary: NewSummary): Promise<void> {
	const { printed, file, ended, wrote, journalBytes } = summary;
	const { started, command, baseUrl, manifest } = file;
	const added = { started, ended: ended.toISOString(), command, manifest: manifest.name, base_url: baseUrl, wrote };
	const text = JSON.stringify({ ...printed, ...added, journal_bytes: journalBytes ?? null });
	const path = runs.path(run, SUMMARY_FILE);
	await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600, flush: true });
	await rename(`${path}.new`, path);
}

/**
 * The summary of a run, if its journal is still as it was when the summary was written. A run that is going on, was
 * killed or was damaged since has none, and neither has one of 0.1.0: their state comes from their journals.
 */
export async function readRunSummary(runs: RunStore, run: string): Promise<RunSummary | undefined> {
	const path = runs.path(run, SUMMARY_FILE);
	const [text, written, journal] = await Promise.all([
		readFile(path, "utf8").catch(absent),
		stat(path).catch(absent),
		stat(runs.path(run, JOURNAL_FILE)).catch(absent),
	]);
	if (text === undefined || written === undefined) return undefined;
	const object = jsonObjectOf(text);
	if (object === undefined) return undefined;
	// A journal is compressed after the summary, and made plain again before anything is appended to it.
	const isThere =
		journal === undefined
			? typeof object["journal_bytes"] === "number" && (await isPacked(runs, run))
			: fits(object, written, journal);
	return isThere ? summaryIn(object) : undefined;
}

function fits({ journal_bytes: bytes }: JsonObject, written: Stats, journal: Stats): boolean {
	return journal.size === bytes && journal.mtimeMs <= written.mtimeMs;
}

async function isPacked(runs: RunStore, run: string): Promise<boolean> {
	return (await stat(packedPath(runs.path(run, JOURNAL_FILE))).catch(absent)) !== undefined;
}

function summaryIn(object: JsonObject): RunSummary | undefined {
	const { ended, seconds, exit_code: exitCode, wrote, duplicate_skipped: duplicateSkipped } = object;
	const { rows, updated, unchanged, uploaded, removed, failed, invalid, pending, attempts } = object;
	if (typeof ended !== "string" || typeof wrote !== "boolean") return undefined;
	if (!isNumber(seconds) || !isNumber(exitCode) || !isNumber(rows) || !isNumber(updated)) return undefined;
	if (!isNumber(unchanged) || !isNumber(uploaded) || !isNumber(removed) || !isNumber(failed)) return undefined;
	if (!isNumber(invalid) || !isNumber(duplicateSkipped) || !isNumber(pending) || !isNumber(attempts)) return undefined;
	const settled = { updated, unchanged, uploaded, removed, failed };
	return {
		ended,
		seconds,
		exitCode,
		wrote,
		totals: { rows, ...settled, invalid, duplicateSkipped, pending, attempts },
	};
}

function isNumber(value: JsonValue | undefined): value is number {
	return typeof value === "number";
}

function absent(error: unknown): undefined {
	if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
	throw error;
}
