import type { InexactValues } from "../rest/inexact.ts";
import type { ShownChange } from "../report/changes.ts";
import type { Session } from "../app.ts";
import type { Metadata } from "../json/values.ts";
import type { Row } from "../manifest/types.ts";
import type { DocumentSource } from "../run/documents/document-source.ts";

/**
 * What a row would do to its document. Sends nothing that writes.
 *
 * @param documents what documents have
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
			/** what is sent nevertheless, where the run does not leave such a document alone */
			readonly sent?: Metadata;
	  }
	| EffectChange;

export type EffectChange = Pick<ShownChange, "action" | "documentId"> & {
	/** what the document has; nothing where there is none yet */
	readonly present: Metadata;
	/** what of that came rounded, as the service gave it */
	readonly inexact?: InexactValues | undefined;
	/** what it would have; nothing where it would go */
	readonly metadata: Metadata;
};
