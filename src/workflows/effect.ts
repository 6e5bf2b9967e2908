import type { Metadata } from "../json/values.ts";
import type { InexactValues } from "../rest/inexact.ts";
import type { ShownChange } from "../report/changes.ts";

/** What a row would do to a document; with `none` that is as the row wants it already. */
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
