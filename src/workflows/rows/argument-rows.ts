import { usageError } from "../../errors.ts";
import { payloadOptions } from "../../flags/payload-options.ts";
import { csvFailedRows } from "../../manifest/failed-rows.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { idKey } from "../../text/names.ts";
import type { Run } from "../open-run.ts";
import { checkFailedPath } from "./failed-rows.ts";
import type { ManifestReadFlags } from "./manifest-rows.ts";
import { type RowSource, recordedText } from "./row-source.ts";

/** The ids of `--id` as rows. An id that is given twice is sent once, and counted as a duplicate. */
export async function idRows({ flags, settings }: Run<ManifestReadFlags>, ids: readonly string[]): Promise<RowSource> {
	await checkFailedPath(flags.failed, "-");
	const dataset = flags.dataset ?? settings.dataset?.value;
	if (dataset === undefined) {
		throw usageError("--id needs a dataset", "Name it with -d DATASET.");
	}
	if (ids.some((id) => id.trim() === "" || id === "." || id === "..")) {
		throw usageError("--id has an id that is empty, . or ..; nothing was sent", "Was a variable not set?");
	}
	const repeated = ids.length - new Set(ids.map(idKey)).size;
	const text = csvLine(["dataset_id", "document_id"]) + ids.map((id) => csvLine([dataset, id])).join("");
	return {
		name: "--id",
		rows: ids.length,
		rowsByDataset: new Map([[dataset, ids.length - repeated]]),
		invalid: 0,
		duplicateSkipped: repeated,
		stop: undefined,
		async *read() {
			const seen = new Set<string>();
			for (const [index, documentId] of ids.entries()) {
				if (seen.has(idKey(documentId))) continue;
				seen.add(idKey(documentId));
				const source = { kind: "csv" as const, cells: [dataset, documentId] };
				yield { index, line: index + 1, datasetId: dataset, documentId, file: undefined, metadata: new Map(), source };
			}
		},
		failedRows: csvFailedRows(["dataset_id", "document_id"], ","),
		content: recordedText(text),
		options: payloadOptions(flags, undefined, settings, undefined),
		[Symbol.asyncDispose]: async () => undefined,
	};
}
