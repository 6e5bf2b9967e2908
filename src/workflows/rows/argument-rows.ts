import { usageError } from "../../errors.ts";
import { temporaryFile } from "../../run/storage/temporary-folders.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { checkedRows, type ManifestReadFlags, type Reading } from "./manifest-rows.ts";
import type { RowSource } from "./row-source.ts";

/** The ids of `--id` as rows. An id that is given twice is sent once, and counted as a duplicate. */
export async function idRows(
	run: Run<ManifestReadFlags>,
	ids: readonly string[],
	{ purpose }: Reading,
): Promise<RowSource> {
	const { flags, settings, app } = run;
	const dataset = flags.dataset ?? settings.dataset?.value;
	if (dataset === undefined) {
		throw usageError("--id needs a dataset", "Name it with -d DATASET.");
	}
	if (ids.some((id) => id.trim() === "" || id === "." || id === "..")) {
		throw usageError("--id has an id that is empty, . or ..; nothing was sent", "Was a variable not set?");
	}
	const lines = ids.map((id) => `${JSON.stringify({ dataset_id: dataset, document_id: id })}\n`);
	const path = await temporaryFile(await app.temporaryFolder(settings), "the ids", lines);
	return checkedRows(run, { path, name: "--id" }, await manifestOptions(purpose, { dataset }, settings), undefined);
}
