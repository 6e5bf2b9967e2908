import { CliError, Exit } from "../../errors.ts";
import { type Metadata, metadataText } from "../../json/values.ts";
import { ColumnPlan, type ManifestDocument } from "../../manifest/write.ts";
import type { Print } from "../lists/documents-csv.ts";

export type { Print } from "../lists/documents-csv.ts";

/** Prints documents as a manifest. `include` takes all metadata first, because a column's type depends on every value. */
export type DocumentPrinter = {
	readonly include: (metadata: Metadata) => void;
	/** Returns how many there were. It stops when `isClosed` is true: the reader has closed the output. */
	print(documents: AsyncIterable<ManifestDocument>, print: Print, isClosed: () => boolean): Promise<number>;
};

export function documentPrinter(json: boolean): DocumentPrinter {
	const plan = new ColumnPlan(["name"]);
	return {
		include: (metadata) => (json ? undefined : plan.include(metadata)),
		async print(documents, print, isClosed) {
			if (!json) await print(headOf(plan));
			let count = 0;
			for await (const document of documents) {
				if (isClosed()) break;
				await print(json ? jsonRow(document) : plan.row(document));
				count += 1;
			}
			return count;
		},
	};
}

function headOf(plan: ColumnPlan): string {
	try {
		return plan.head();
	} catch (error) {
		if (!(error instanceof CliError)) throw error;
		// Requests were sent, so this is not exit 2.
		throw new CliError(error.message, { exit: Exit.failedRows, hint: "Print JSON lines with --json.", cause: error });
	}
}

function jsonRow({ documentId, datasetId, members = [], metadata }: ManifestDocument): string {
	const [name = ""] = members;
	const ids = JSON.stringify({ document_id: documentId, dataset_id: datasetId, name });
	return `${ids.slice(0, -1)},"meta_fields":${metadataText(metadata)}}\n`;
}
