import { constants } from "node:fs";
import { access, type FileHandle, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CliError, Exit, reason } from "../../errors.ts";
import type { CheckedManifest } from "../../manifest/types.ts";
import { failedOutcomes } from "../../run/recorded/recorded-rows.ts";
import type { Totals } from "../../run/types.ts";
import { openReport, whyNoReport } from "./private-report.ts";
import { rowPlaces } from "../rows/row-place.ts";

/** Rows of a manifest whose failures are in memory at a time: a hundred megabytes at most. */
const WINDOW = 500_000;

/**
 * Writes the failed rows of a run in the order of the manifest, with all their columns and the reason. It reads the journal
 * alone, so the file is the same whenever it is written. A run without a failed row leaves an older file as it is.
 *
 * @param folder the run's
 * @returns why it could not be written
 */
export async function writeFailed(
	path: string,
	folder: string,
	source: Pick<CheckedManifest, "read" | "failedRows">,
	{ failed, rows }: Totals,
): Promise<string | undefined> {
	if (failed === 0) return undefined;
	let file: FileHandle | undefined;
	try {
		file = await openReport(path);
		await file.appendFile(source.failedRows.head);
		const placeOf = await rowPlaces(path);
		for (let from = 0; from < rows; from += WINDOW) {
			const failures = await failedOutcomes(folder, from, from + WINDOW);
			if (failures.size === 0) continue;
			for await (const row of source.read()) {
				const { index, line, source: record } = row;
				const failure = failures.get(index);
				if (failure === undefined) continue;
				const { code, text, attempts } = failure;
				const why = { line, errorCode: code, error: text, attempts };
				await file.appendFile(source.failedRows.row(record, why, placeOf(row)));
			}
		}
		return undefined;
	} catch (error) {
		return reason(error);
	} finally {
		await file?.close().catch(() => undefined);
	}
}

/** Checks, before anything is sent, that the file can be made and is not the manifest. @throws CliError exit 2 */
export async function checkFailedPath(path: string, manifest: string): Promise<void> {
	const folder = dirname(resolve(path));
	try {
		await access(folder, constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new CliError(`--failed ${path}: ${reason(error)}; nothing was sent`, { exit: Exit.usage, cause: error });
	}
	const why = await whyNoReport(path);
	if (why !== undefined) {
		throw new CliError(`--failed ${path}: ${why}; nothing was sent`, {
			exit: Exit.usage,
			hint: "Name a file of your own, or one that does not exist yet.",
		});
	}
	const same = async (name: string): Promise<string> => realpath(name).catch(() => resolve(name));
	if (manifest !== "-" && (await same(path)) === (await same(manifest))) {
		throw new CliError(`--failed ${path} is the manifest itself; nothing was sent`, {
			exit: Exit.usage,
			hint: "Name another file: the manifest is read while failed rows are written.",
		});
	}
}
