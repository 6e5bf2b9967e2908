import type { Row } from "../../manifest/types.ts";
import { DocumentSource } from "../../run/documents/document-source.ts";
import { CountedRows } from "../../run/documents/row-counts.ts";
import { show } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";
import type { Run } from "../open-run.ts";
import { unsettled } from "../rows/row-source.ts";
import type { RunRecord } from "./open-record.ts";

/** Documents of a dataset whose list takes two seconds to read, at a hundred a page and a hundred pages a second. */
const LONG_LIST = 20_000;

/** What the documents of the rows have that are still to be sent. */
export function rowDocuments<SourceRow extends Row>(
	{ app, settings, session }: Run,
	{ rows, journal }: Pick<RunRecord<SourceRow>, "rows" | "journal">,
): DocumentSource {
	return new DocumentSource({
		rows: new CountedRows(() => unsettled(rows, journal), journal.totals().pending),
		folder: () => app.temporaryFolder(settings),
		service: session.service,
		onPresent: rows.onPresent,
		onListing: (datasetId, documents) => {
			if (documents < LONG_LIST) return;
			app.io.note(`Reading what the ${numberText(documents)} documents of dataset ${show(datasetId)} have now.`);
		},
	});
}
