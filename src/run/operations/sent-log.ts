import type { Metadata } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import type { RowBytes } from "../journal/row-states.ts";
import type { RowError, Work } from "../types.ts";

/** The write that is sent for a row. */
export type Sending =
	| {
			readonly what: "update";
			readonly documentId: string;
			readonly metadata: Metadata;
			/** what the document had before, undefined where that is not known */
			readonly before: Metadata | undefined;
			/** the JSON text of `before`, where it is at hand: it is recorded as it is */
			readonly beforeText?: string | undefined;
	  }
	| { readonly what: "remove"; readonly documentId: string }
	| {
			readonly what: "upload";
			readonly metadata: Metadata;
			/** name to store it under */
			readonly name: string;
			/** bytes */
			readonly size: number;
			/** ids of the documents that had that name before */
			readonly namesakes: readonly string[];
	  };

/** The write of an earlier execution for a row whose outcome it did not record. */
export type Earlier = {
	/** ids of the documents that had an upload's name before it was sent; undefined where only metadata was sent */
	readonly namesakes: readonly string[] | undefined;
	/** an upload's document, where a list showed it */
	readonly stored: { readonly id: string; readonly name: string } | undefined;
	/** what the document had before that write, where it is known */
	readonly before: Metadata | undefined;
	/** milliseconds since it was sent; 0 where the row failed meanwhile, as a search for the upload found nothing */
	readonly age: number;
};

/** Records each write before it is sent, so that a killed run knows what may have arrived. */
export type SentLog = {
	/** the unsettled write of earlier executions for a row; undefined if nothing was sent */
	earlier(index: number): Earlier | undefined;
	/** resolves when the record is durable; only then the first byte may be sent */
	sending(item: Work, sending: Sending): Promise<void>;
	/** an upload was stored, and its metadata is not written yet */
	stored(item: Work, document: { readonly id: string; readonly name: string }): Promise<void>;
	/** why a row of a run that goes on may not write to a document: a newer run has touched it. None unless given */
	newerRun?(datasetId: string, documentId: string): RowError | undefined;
};

/** For operations that are not recorded. */
export const unrecorded: SentLog = {
	earlier: () => undefined,
	sending: () => Promise.resolve(),
	stored: () => Promise.resolve(),
};

/** Fails a row whose document a newer run has touched. @throws RestError */
export function refuseNewer(
	log: Pick<SentLog, "newerRun">,
	{ datasetId }: Pick<Work, "datasetId">,
	documentId: string,
): void {
	const newer = log.newerRun?.(datasetId, documentId);
	if (newer !== undefined) throw new RestError(newer.text, { kind: "rejected", code: newer.code });
}

/**
 * A log that refuses the rows which the pass of a policy could not judge, because their documents could not be read then.
 *
 * @param unseen such rows are set
 */
export function onlyPrescanned(log: SentLog, unseen: Pick<RowBytes, "get">): SentLog {
	return {
		newerRun: (datasetId, documentId) => log.newerRun?.(datasetId, documentId),
		earlier: (index) => log.earlier(index),
		sending: (item, sending) => {
			if (unseen.get(item.index) === 0) return log.sending(item, sending);
			const text = "its document could not be read when the policy was checked; nothing was sent";
			return Promise.reject(new RestError(text, { kind: "rejected", code: "POLICY_UNSEEN" }));
		},
		stored: (item, document) => log.stored(item, document),
	};
}
