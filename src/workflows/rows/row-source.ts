import { createHash } from "node:crypto";
import type { CheckedManifest, Content, Row, SourceRecord } from "../../manifest/types.ts";
import type { UpdateItem } from "../../run/operations/prepare-update.ts";
import type { Work } from "../../run/types.ts";

/** Where rows come from: a checked manifest, or arguments that stand for one. */
export type RowSource<SourceRow extends Row = Row> = Pick<
	CheckedManifest,
	"name" | "rows" | "invalid" | "duplicateSkipped" | "problems" | "fatal" | "failedRows" | "close"
> & {
	/** the file whose lines the rows name, where it is another */
	readonly linesOf?: string;
	/** rows that were looked at to find these, where they are a part of them: what changes is a share of all */
	readonly outOf?: number;
	read(): AsyncIterable<SourceRow>;
	/** what is to be kept so that the rows can be read again, in another process */
	readonly kept: Kept;
};

export type Kept = Pick<Content, "sha256" | "bytes"> & {
	/** absolute path of the manifest, a private copy of it, or a text that stands for it */
	readonly source: { readonly path: string } | { readonly copy: string } | { readonly text: string };
};

/** The manifest that stands for arguments. */
export function keptText(text: string): Kept {
	return { sha256: createHash("sha256").update(text).digest("hex"), bytes: Buffer.byteLength(text), source: { text } };
}

/** A row as the engine and the failed-rows file need it. */
export type RunItem = Work & { readonly source: SourceRecord };

export function updateItemOf({ index, line, datasetId, documentId, metadata, source }: Row): RunItem & UpdateItem {
	return { index, line, datasetId, documentId, metadata, source };
}
