import type { InexactValues } from "../rest/inexact.ts";
import type { ShownChange } from "../report/change-tally.ts";
import type { Session } from "../app.ts";
import type { Metadata } from "../json/values.ts";
import type { Row } from "../manifest/types.ts";
import type { DocumentSource } from "../run/documents/document-source.ts";
import type { ParsingStates } from "../run/documents/parsing-states.ts";
import { notInDataset } from "../run/operations/operation.ts";
import { type ParsePlan, parseStep } from "../run/operations/parse.ts";
import { rowErrorOf } from "../run/operations/prepare-update.ts";
import { inOrder } from "../run/ordered.ts";
import { READS_IN_FLIGHT } from "../rates.ts";
import type { RowError, Work } from "../run/types.ts";

/**
 * Computes the effect of a row on its document. Sends nothing that writes.
 *
 * @param documents the present metadata of documents
 * @throws RestError where the run would fail the row
 */
export type PreviewRow<SourceRow extends Row = Row> = (
	row: SourceRow,
	session: Session,
	documents: DocumentSource,
) => Promise<Effect>;

/** The effect of a row on its document. With `none` the document is already as the row wants it. */
export type Effect =
	| {
			readonly action: "none";
			readonly documentId: string;
			/** the metadata that is still sent, if the run does not leave such a document alone */
			readonly sent?: Metadata | undefined;
	  }
	| EffectChange;

export type EffectChange = Pick<ShownChange, "action" | "documentId" | "name" | "from"> & {
	/** the document's present metadata; absent if it does not exist yet */
	readonly present: Metadata;
	/** its values that came rounded, as the service gave them */
	readonly inexact?: InexactValues | undefined;
	/** its future metadata; absent if it would be removed */
	readonly metadata: Metadata;
};

/** A row with its effect, or with the reason why that could not be found out. */
export type Previewed<SourceRow> = { readonly row: SourceRow } & (
	| { readonly effect: Effect; readonly error?: undefined }
	| { readonly error: RowError; readonly effect?: undefined }
);

type Previewing = { readonly session: Session; readonly flags: { readonly concurrency: number | "auto" } };

/** The effects of rows in their order, several of which are computed at a time. @throws what is no fault of a row */
export function effectsOf<SourceRow extends Row>(
	{ session, flags: { concurrency } }: Previewing,
	rows: AsyncIterable<SourceRow>,
	previewRow: PreviewRow<SourceRow>,
	documents: DocumentSource,
): AsyncIterable<Previewed<SourceRow>> {
	const previewed = async (row: SourceRow): Promise<Previewed<SourceRow>> => {
		try {
			return { row, effect: await previewRow(row, session, documents) };
		} catch (thrown) {
			const error = rowErrorOf(thrown);
			if (error === undefined) throw thrown;
			return { row, error };
		}
	};
	return inOrder(documents.expecting(rows), previewed, concurrency === "auto" ? READS_IN_FLIGHT : concurrency);
}

/** Whether a document would be parsed. It sends nothing that writes. @throws RestError where it is not listed */
export async function effectOfParsing(
	states: ParsingStates,
	{ service, request }: Session,
	item: Work,
	plan: ParsePlan,
): Promise<Effect> {
	const api = await service.known(request);
	const document = await states.now(api, request, item, Number.NEGATIVE_INFINITY);
	states.forget(item);
	if (document === undefined) throw notInDataset(service, item);
	const { documentId } = item;
	const run = document.parsing?.run;
	if (run === undefined || parseStep(run, plan) !== "start") return { action: "none", documentId };
	return { action: "parse", documentId, name: document.name, present: new Map(), metadata: new Map() };
}
