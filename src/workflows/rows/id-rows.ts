import { CliError, Exit } from "../../errors.ts";
import { csvFailedRows, csvLine, idKey } from "../../manifest/index.ts";
import { type RowSource, keptText } from "./row-source.ts";

/** The ids of `--id` as rows. An id given twice is one row, and one that is left out. */
export function idRows(ids: readonly string[], dataset: string | undefined): RowSource {
	if (dataset === undefined) {
		throw new CliError("--id needs a dataset", {
			exit: Exit.usage,
			hint: "Name it with -d DATASET.",
		});
	}
	if (ids.some((id) => id.trim() === "" || id === "." || id === "..")) {
		throw new CliError("--id has an id that is empty, . or ..; nothing was sent", {
			exit: Exit.usage,
			hint: "Was a variable not set?",
		});
	}
	const seen = new Set<string>();
	const repeated = ids.length - new Set(ids.map(idKey)).size;
	const text = csvLine(["dataset_id", "document_id"]) + ids.map((id) => csvLine([dataset, id])).join("");
	return {
		name: "--id",
		rows: ids.length,
		invalid: 0,
		duplicateSkipped: repeated,
		problems: 0,
		fatal: false,
		async *read() {
			seen.clear();
			for (const [index, documentId] of ids.entries()) {
				if (seen.has(idKey(documentId))) continue;
				seen.add(idKey(documentId));
				const source = { kind: "csv" as const, cells: [dataset, documentId] };
				yield { index, line: index + 1, datasetId: dataset, documentId, file: undefined, metadata: new Map(), source };
			}
		},
		failedRows: csvFailedRows(["dataset_id", "document_id"], ","),
		kept: keptText(text),
		close: async () => undefined,
	};
}
