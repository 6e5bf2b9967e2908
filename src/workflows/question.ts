import type { App } from "../app.ts";
import { usageError } from "../errors.ts";
import { askForId } from "../run/documents/find-document.ts";
import { namedDocument } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import type { Run } from "./open-run.ts";
import type { RowSource } from "./rows/row-source.ts";

/** Documents that a question names. */
const NAMED = 3;

type NamedRow = { readonly datasetId: string; readonly documentId: string; readonly name?: string | undefined };

type Asking = Pick<Run<unknown>, "app" | "settings" | "session">;

/**
 * Asks the user about the documents of rows, before a write that is hard to undo. Of no rows it asks nothing.
 *
 * Names are those that the rows carry. The first documents whose rows carry none are looked up, by one request each. Names of
 * datasets are those that an earlier list showed.
 *
 * @param question `counted` is `12 documents of dataset reports (d0f1)`, and `lines` has a line for each of the first,
 * `  a.pdf (1f2e)`
 * @throws CliError exit 2 where the answer is not yes
 */
export async function askAbout(
	run: Asking,
	rows: Pick<RowSource, "read"> | undefined,
	question: (counted: string, lines: string) => string,
): Promise<void> {
	if (rows === undefined) return;
	const datasets = new Set<string>();
	const first: NamedRow[] = [];
	let count = 0;
	for await (const { datasetId, documentId, name } of rows.read()) {
		count += 1;
		datasets.add(datasetId);
		if (first.length < NAMED) first.push({ datasetId, documentId, name });
	}
	const named = (await withNames(run, first)).map(({ name, documentId }) => namedDocument(name, documentId));
	const more = count > named.length ? [`and ${numberText(count - named.length)} more`] : [];
	const [only = "", ...others] = datasets;
	const known = (await (await run.app.rememberedDatasets(run.settings))?.load()) ?? [];
	const dataset = namedDocument(known.find(({ id }) => id === only)?.name, only);
	const where = others.length === 0 ? `dataset ${dataset}` : `${numberText(datasets.size)} datasets`;
	const lines = [...named, ...more].map((line) => `  ${line}\n`).join("");
	await askForYes(question(`${documentsText(count)} of ${where}`, lines), run.app);
}

/** The rows with the names of their documents. After a look-up that fails, the rest keeps its ids alone. */
async function withNames({ session, app }: Asking, rows: readonly NamedRow[]): Promise<readonly NamedRow[]> {
	const named = [...rows];
	for (const [at, { datasetId, documentId, name }] of rows.entries()) {
		if (name !== undefined && name !== "") continue;
		try {
			const { found } = await askForId({ api: session.api, request: session.tryRequest, datasetId }, documentId);
			named[at] = { datasetId, documentId, name: found?.name };
		} catch {
			app.signal.throwIfAborted();
			break;
		}
	}
	return named;
}

/** Asks the user before a write that is hard to undo. @throws CliError exit 2 where the answer is not yes */
export async function askForYes(question: string, { io }: App): Promise<void> {
	const answer = await io.ask(`${question}${question.endsWith("\n") ? "" : " "}Type yes:`);
	if (answer.trim().toLowerCase() === "yes") return;
	throw usageError("declined; nothing was changed");
}
