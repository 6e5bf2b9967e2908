import type { Outcome, Work } from "../run/types.ts";

/** The `--json` line of a row: for every row that failed, and for `upload` every row. */
export function rowLine({ item, status, documentId, error, attempts }: Outcome<Work>): string {
	return JSON.stringify({
		type: "row",
		line: item.line,
		status,
		dataset_id: item.datasetId,
		document_id: documentId === "" ? null : documentId,
		file: item.fileName ?? null,
		error_code: error?.code ?? null,
		error: error?.text ?? null,
		attempts,
	});
}
