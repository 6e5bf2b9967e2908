import type { InexactValues } from "../rest/inexact.ts";
import type { ShownChange } from "../report/shown-change.ts";
import type { Session } from "../app.ts";
import type { Metadata } from "../json/values.ts";
import type { Row } from "../manifest/types.ts";
import type { DocumentSource } from "../run/documents/document-source.ts";

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
			readonly sent?: Metadata;
	  }
	| EffectChange;

export type EffectChange = Pick<ShownChange, "action" | "documentId" | "name"> & {
	/** the document's present metadata; absent if it does not exist yet */
	readonly present: Metadata;
	/** its values that came rounded, as the service gave them */
	readonly inexact?: InexactValues | undefined;
	/** its future metadata; absent if it would be removed */
	readonly metadata: Metadata;
};
