import { namedDocument } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import type { Run } from "./open-run.ts";
import type { RowSource } from "./rows/row-source.ts";

/** Documents that a question names. */
const NAMED = 3;

/**
 * The documents of rows, for a question about them: `12 documents of dataset reports (d0f1): a.pdf (1f2e), b.pdf (2a3b),
 * c.pdf (3c4d) and 9 more`.
 *
 * No request is made for it. Names are those that the rows carry, and datasets have those that an earlier list showed.
 */
export async function documentsOf(
	{ app, settings }: Pick<Run<unknown>, "app" | "settings">,
	rows: Pick<RowSource, "read">,
): Promise<string> {
	const datasets = new Set<string>();
	const named: string[] = [];
	let count = 0;
	for await (const { datasetId, documentId, name } of rows.read()) {
		count += 1;
		datasets.add(datasetId);
		if (named.length < NAMED) named.push(namedDocument(name, documentId));
	}
	const more = count > named.length ? ` and ${numberText(count - named.length)} more` : "";
	const [only = "", ...others] = datasets;
	const known = (await (await app.rememberedDatasets(settings))?.load()) ?? [];
	const dataset = namedDocument(known.find(({ id }) => id === only)?.name, only);
	const where = others.length === 0 ? `dataset ${dataset}` : `${numberText(datasets.size)} datasets`;
	return `${documentsText(count)} of ${where}: ${named.join(", ")}${more}`;
}
