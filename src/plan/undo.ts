import type { RowStatus } from "../outcomes.ts";
import type { Normalise } from "../rest/flavours.ts";
import { differenceOf } from "./change.ts";
import type { PlannedChange } from "./plan-file/lines.ts";
import { metadataHash } from "./plan-file/planned.ts";
import type { Write } from "./verdict.ts";

/** The write of a run to one document. */
export type AppliedWrite = Write & {
	/** line in the run's manifest, from 1 */
	readonly line: number;
	readonly datasetId: string;
	/** empty for an upload whose file is not known to be stored */
	readonly documentId: string;
	/** `upload`: the document whose place it took, where that was, or may have been, removed */
	readonly replaced?: string | undefined;
	/** the row's outcome; undefined where that is not known */
	readonly status: RowStatus | undefined;
};

/**
 * The undo of one row of a run.
 *
 * - a planned change: restores the previous metadata, or removes an uploaded document, if it still has what the run
 *   left
 * - `nothing`: the run changed nothing
 * - `impossible`: the previous metadata is not known, or the document was removed or replaced
 */
type UndoStep = PlannedChange | "nothing" | "impossible";

/** @param normalise what the service makes of the metadata that it is sent */
export function undoStep(applied: AppliedWrite, normalise: Normalise): UndoStep {
	const { line, datasetId, documentId, write, replaced, metadata, before, status } = applied;
	const left = normalise(metadata);
	const planned = { line, datasetId, documentId, was: metadataHash(left) };
	switch (write) {
		case "remove":
		// Only the plan of a sync has the path of the file.
		case "rename":
			return "impossible";
		case "upload":
			return documentId === "" || replaced !== undefined ? "impossible" : { ...planned, action: "remove" };
		case "update": {
			if (before === undefined) return "impossible";
			const difference = differenceOf(left, before, normalise);
			if (status === undefined || status === "failed") {
				// A service may remove what a document had and then refuse what was sent, or keep the keys that were not sent.
				const orWas = [new Map(), new Map([...before, ...left])].map((metadata) => metadataHash(metadata));
				return { ...planned, orWas, action: "update", metadata: before, difference };
			}
			// Not normalised: not every release has these rules, and without them the two differ.
			if (metadataHash(before) === metadataHash(metadata)) return "nothing";
			return { ...planned, action: "update", metadata: before, difference };
		}
	}
}
