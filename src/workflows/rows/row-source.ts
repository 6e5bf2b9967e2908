import type { JsonObject } from "../../json/values.ts";
import type { CheckedManifest, Content, IsWanted, Row } from "../../manifest/types.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import type { OnPresent } from "../../run/documents/listed-datasets.ts";
import type { RowNumbers } from "../../run/journal/row-states.ts";
import type { ShardCounts } from "../../report/summary.ts";

/** The source of rows: a checked manifest or a plan. Disposing of it closes its file. */
export type RowSource<SourceRow extends Row = Row> = AsyncDisposable &
	Pick<CheckedManifest, "name" | "rows" | "rowsByDataset" | "invalid" | "duplicateSkipped" | "failedRows"> & {
		/** the file whose lines the rows name, where it is another */
		readonly linesOf?: string | undefined;
		/** false where their lines are those of no file: the steps of a sync */
		readonly hasLines?: boolean | undefined;
		/** the part of a manifest that these rows are; undefined for a whole one */
		readonly shard?: ShardCounts | undefined;
		/** the number of all rows of the manifest, if these are only a part: a policy's limit in percent counts all */
		readonly outOf?: number | undefined;
		/** takes the keys of documents that were read, before anything is written; absent where rows write no keys of their own */
		readonly onPresent?: OnPresent | undefined;
		read(): AsyncIterable<SourceRow>;
		/** the same rows, many at a time, where that is cheaper; without those at positions that are not wanted */
		readonly readBatches?: ((isWanted?: IsWanted) => AsyncIterable<readonly SourceRow[]>) | undefined;
		/** what a recorded run stores, so that another process can read the rows again */
		readonly content: RecordedContent;
		/** the flags that change what is sent, as a run records them */
		readonly options: JsonObject;
	};

/** Rows that the profile's policy allows to be sent. `policy/prescan.ts` makes them of a source; a run takes no others. */
export type AllowedRows<SourceRow extends Row = Row> = RowSource<SourceRow> & {
	/** set for rows whose documents could not be read, so that the policy could not judge them: nothing is sent for them */
	readonly unjudged: Pick<RowNumbers, "get">;
	/** what was read to judge them, if the run goes on with it; whoever has the rows closes it */
	readonly documents?: DocumentSource | undefined;
};

type RecordedContent = Pick<Content, "sha256" | "bytes"> & {
	/** absolute path of the manifest, or of a private copy of it */
	readonly source: { readonly path: string } | { readonly copy: string };
};

/** The file that messages about rows name. */
export function fileOfLines({ linesOf, name }: Pick<RowSource, "linesOf" | "name">): string {
	return linesOf ?? name;
}

/** Rows that are read at a time where no other number is given. */
const CHUNK = 100;

/** The rows that are still to be sent. */
export async function* unsettled<SourceRow extends Row>(
	source: Pick<RowSource<SourceRow>, "read" | "readBatches">,
	journal: { isSettled(index: number): boolean },
): AsyncGenerator<SourceRow> {
	for await (const rows of unsettledChunks(source, journal, CHUNK)) yield* rows;
}

/**
 * The same in chunks of at most `size`. The last may be shorter. Settled rows are left out before they are parsed where that can
 * be: a run that was nearly done has millions.
 */
export async function* unsettledChunks<SourceRow extends Row>(
	source: Pick<RowSource<SourceRow>, "read" | "readBatches">,
	journal: { isSettled(index: number): boolean },
	size: number,
): AsyncGenerator<SourceRow[]> {
	let chunk: SourceRow[] = [];
	for await (const rows of source.readBatches?.((index) => !journal.isSettled(index)) ?? oneByOne(source.read())) {
		for (const row of rows) {
			if (journal.isSettled(row.index)) continue;
			if (chunk.push(row) < size) continue;
			yield chunk;
			chunk = [];
		}
	}
	if (chunk.length > 0) yield chunk;
}

async function* oneByOne<SourceRow>(rows: AsyncIterable<SourceRow>): AsyncGenerator<readonly SourceRow[]> {
	for await (const row of rows) yield [row];
}
