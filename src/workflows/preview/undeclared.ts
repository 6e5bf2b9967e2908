import type { Session } from "../../app.ts";
import { CliError, Exit, usageError } from "../../errors.ts";
import type { Row } from "../../manifest/types.ts";
import type { UndeclaredDocument } from "../../report/change-tally.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { SeenIds } from "../../run/documents/id-table.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";

/** Finds the documents that no row names, in the datasets that rows name. Memory holds a hash of each id. */
export class UndeclaredFinder {
	readonly #named = new SeenIds();
	readonly #datasets = new Set<string>();
	readonly #default: string | undefined;

	/** @param dataset the one that is compared where there is no row */
	constructor(dataset: string | undefined) {
		this.#default = dataset;
	}

	row({ datasetId, documentId }: Pick<Row, "datasetId" | "documentId">): void {
		this.#datasets.add(datasetId);
		this.#named.add(keyOf(datasetId, documentId));
	}

	/**
	 * The documents, once all rows were given.
	 *
	 * @throws CliError exit 1 where a list can't be read as a whole: then it is not known what is undeclared
	 */
	async *find({ service, request }: Session, documents: DocumentSource): AsyncGenerator<UndeclaredDocument> {
		if (this.#datasets.size === 0) this.#datasets.add(this.#datasetWithoutRows());
		for (const datasetId of this.#datasets) {
			const api = await service.known(request);
			try {
				for await (const { id, name } of documents.wholeList(api, request, datasetId)) {
					if (this.#named.add(keyOf(datasetId, id)) === "new") yield { datasetId, documentId: id, name };
				}
			} catch (error) {
				const why = rowErrorOf(error);
				if (why === undefined) throw error;
				throw new CliError(`--undeclared: ${why.text}`, {
					exit: Exit.failedRows,
					hint: "Run the command again, or leave --undeclared out.",
					cause: error,
				});
			}
		}
	}

	#datasetWithoutRows(): string {
		if (this.#default !== undefined) return this.#default;
		throw usageError(
			"--undeclared needs a dataset, and there is no row that names one; nothing was sent",
			"Name it with --dataset.",
		);
	}
}

/** No id holds a NUL character. */
function keyOf(datasetId: string, documentId: string): string {
	return `${datasetId}\0${documentId}`;
}
