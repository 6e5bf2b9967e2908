import { CliError, Exit } from "../../errors.ts";
import { type Metadata, metadataText } from "../../json/values.ts";
import { ColumnPlan, type ManifestDocument } from "../../manifest/write.ts";
import type { Print } from "../lists/documents-csv.ts";

export type { Print } from "../lists/documents-csv.ts";

/** Prints documents as a manifest. `see` is told of all metadata first, as a column's type depends on every value. */
export type DocumentPrinter = {
	readonly see: (metadata: Metadata) => void;
	/** Returns how many there were. `isClosed` tells that nobody reads on. */
	print(documents: AsyncIterable<ManifestDocument>, print: Print, isClosed: () => boolean): Promise<number>;
};

export function documentPrinter(json: boolean): DocumentPrinter {
	const plan = new ColumnPlan(["name"]);
	return {
		see: (metadata) => (json ? undefined : plan.include(metadata)),
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
		// The service was asked by now, so this is no wrong usage.
		throw new CliError(error.message, { exit: Exit.failedRows, hint: "Print JSON lines with --json.", cause: error });
	}
}

function jsonRow({ documentId, datasetId, members = [], metadata }: ManifestDocument): string {
	const [name = ""] = members;
	const ids = JSON.stringify({ document_id: documentId, dataset_id: datasetId, name });
	return `${ids.slice(0, -1)},"meta_fields":${metadataText(metadata)}}\n`;
}
