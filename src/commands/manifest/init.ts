import { openDataset } from "../../workflows/open-run.ts";
import { Exit } from "../../errors.ts";
import { textSurvives } from "../../manifest/write.ts";
import type { Document } from "../../rest/types.ts";
import { rowsText } from "../../text/words.ts";
import { allDocuments, type ShortList } from "../../run/documents/list.ts";
import { WARN } from "../../run/documents/searches.ts";
import { printDocumentsCsv } from "../../workflows/lists/documents-csv.ts";
import { writeNewFile } from "../../workflows/outputs/out-file.ts";
import { datasetOption, SERVICE } from "../../flags/flags.ts";
import { declare, valued } from "../../flags/declare.ts";
import { IN_MANIFESTS, shortListError, warningOfInexact } from "../../workflows/lists/warnings.ts";
import { parseOut } from "../../flags/values.ts";

/** A document without metadata looks like one whose metadata the service does not show. */
const HIDDEN =
	"warning: the list shows no metadata: either no document has any, or the service does not show it. In the second case docs tag would remove it.";

export const initCommand = declare({
	summary: "print a dataset's present metadata as a CSV manifest",
	description:
		"Prints the present metadata of a dataset as a CSV manifest. Edit it, then write it back with docs tag. In a spreadsheet, open it as UTF-8 with all columns as text; docs tag --dry-run shows what the spreadsheet changed.",
	examples: "ragtag manifest init -d DATASET --out tags.csv\nragtag docs tag tags.csv",
	options: {
		...SERVICE,
		dataset: datasetOption(),
		out: valued("-o, --out <file>", "a new file instead of standard output", parseOut),
	},
	run: async (options, app) => {
		await using run = await openDataset("manifest init", options, app);
		const { session, dataset, settings } = run;
		let short: ShortList | undefined;
		const request = session.service.searches.believing(session.request, WARN);
		const all = allDocuments({ api: session.api, request, datasetId: dataset }, { onShort: (list) => (short = list) });
		const documents = warningOfInexact(all, undefined, IN_MANIFESTS, app);
		const { out } = options;
		let [areNumbers, haveMetadata, isHidden] = [false, false, false];
		const watched = async function* (): AsyncGenerator<Document> {
			for await (const document of documents) {
				areNumbers ||= !textSurvives(document.id);
				haveMetadata ||= (document.metadata?.size ?? 0) > 0;
				isHidden ||= document.metadata === undefined;
				yield document;
			}
			// Where one document shows metadata, the others have none.
			isHidden &&= !haveMetadata;
			if (isHidden) app.io.note(HIDDEN);
		};
		const count = await writeNewFile(out, app, (print) => printDocumentsCsv(watched(), { settings, app, print }));
		if (out !== undefined) {
			const none = isHidden ? "Add a column for each key" : "No document has metadata yet: add a column for each key";
			const todo = haveMetadata ? "Edit it" : none;
			app.io.note(`${out}: ${rowsText(count)}. ${todo}, then: ragtag docs tag ${out}`);
			if (areNumbers) app.io.note("A spreadsheet reads these ids as numbers: import the column document_id as text.");
		}
		// Kept although it is not complete: the next attempt may list no more.
		if (short !== undefined) throw shortListError(dataset, short, out ?? "the manifest above");
		return Exit.ok;
	},
});
