import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { CliError, Exit, reason } from "../../errors.ts";
import type { Metadata } from "../../json/values.ts";
import type { CheckDependencies } from "../../manifest/types.ts";
import { csvFailedRows, csvLine } from "../../manifest/index.ts";
import { type RowSource, keptText } from "./row-source.ts";

/** Files named on the command line as rows. They may lie anywhere: who types a path means it. */
export async function fileRows(
	files: readonly string[],
	dataset: string | undefined,
	metadata: Metadata,
	alike?: CheckDependencies["alike"],
): Promise<RowSource> {
	if (dataset === undefined) {
		throw new CliError("files need a dataset", { exit: Exit.usage, hint: "Name it with -d DATASET." });
	}
	const names = new Map<string, string>();
	for (const file of files) {
		await checkFile(file);
		const name = basename(file);
		const same = names.get(name);
		if (same !== undefined) {
			throw new CliError(`${same} and ${file} would both be stored as ${name}; nothing was sent`, {
				exit: Exit.usage,
				hint: "Give them different names in a manifest with the columns file and name.",
			});
		}
		names.set(name, file);
	}
	await checkAlike(names, alike);
	const lines = files.map((name) => csvLine([dataset, resolve(name)]));
	return {
		name: "files",
		rows: files.length,
		invalid: 0,
		duplicateSkipped: 0,
		problems: 0,
		fatal: false,
		async *read() {
			for (const [index, name] of files.entries()) {
				const file = { path: resolve(name), name: basename(name) };
				const source = { kind: "csv" as const, cells: [dataset, file.path] };
				yield { index, line: index + 1, datasetId: dataset, documentId: "", file, metadata, source };
			}
		},
		failedRows: csvFailedRows(["dataset_id", "file"], ",", (at) => ["dataset_id", "file"][at]),
		kept: keptText(csvLine(["dataset_id", "file"]) + lines.join("")),
		close: async () => undefined,
	};
}

/** @throws CliError exit 2 where the service at hand takes two of the names for one */
async function checkAlike(names: ReadonlyMap<string, string>, alike: CheckDependencies["alike"]): Promise<void> {
	const seen = new Map<string, string>();
	for (const [name, file] of names) {
		const key = alike?.keyOf(name) ?? name;
		const same = seen.get(key);
		seen.set(key, file);
		if (same === undefined || (await alike?.applies(0)) !== true) continue;
		throw new CliError(
			`${same} and ${file} would be stored under one name by this service, which ignores letter case, accents and trailing blanks; nothing was sent`,
			{ exit: Exit.usage, hint: "Give them different names in a manifest with the columns file and name." },
		);
	}
}

async function checkFile(file: string): Promise<void> {
	try {
		if (!(await stat(file)).isFile()) throw new Error("is not a regular file");
		await access(file, constants.R_OK);
	} catch (error) {
		throw new CliError(`${file}: ${reason(error)}; nothing was sent`, { exit: Exit.usage, cause: error });
	}
}
