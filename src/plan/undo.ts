import type { Metadata } from "../json/values.ts";
import type { Normalise } from "../rest/flavours.ts";
import { differenceOf } from "./change.ts";
import { metadataHash, type PlannedChange } from "./plan-file/planned.ts";

/** What a run did to one document. */
export type Done = {
	/** line in the run's manifest, from 1; undefined in records of earlier releases */
	readonly line: number | undefined;
	readonly datasetId: string;
	/** empty for an upload of which nobody knows whether it was stored */
	readonly documentId: string;
	readonly write: "update" | "upload" | "remove";
	/** what was sent */
	readonly metadata: Metadata;
	/** what the document had before; undefined where that is not known */
	readonly before: Metadata | undefined;
};

/**
 * How one row of a run is taken back.
 *
 * - a planned change: what the document had before is to be written, or the document that an upload made to be removed,
 *   if it still has what the run left
 * - `nothing`: the run changed nothing there
 * - `impossible`: what was there before is not known, or was a document that is gone
 */
export type UndoStep = PlannedChange | "nothing" | "impossible";

/** @param keeps what the service keeps of what it is sent */
export function undoStep(done: Done, keeps: Normalise): UndoStep {
	const { line = 0, datasetId, documentId, write, metadata, before } = done;
	const left = keeps(metadata);
	const planned = { line, datasetId, documentId, was: metadataHash(left) };
	switch (write) {
		case "remove":
			return "impossible";
		case "upload":
			return documentId === "" ? "impossible" : { ...planned, action: "remove" };
		case "update": {
			if (before === undefined) return "impossible";
			// By its rules a service may keep both alike; but not every release has them, and then they differ.
			if (metadataHash(before) === metadataHash(metadata)) return "nothing";
			return { ...planned, action: "update", metadata: before, difference: differenceOf(left, before, keeps) };
		}
	}
}
