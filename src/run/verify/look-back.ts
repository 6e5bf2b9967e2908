import type { Deed, Verdict } from "../../plan/verdict.ts";
import type { Metadata } from "../../json/values.ts";
import type { InexactValues, Normalise } from "../../rest/types.ts";
import type { RecordedRun } from "../journal/open.ts";
import { whyFailed } from "../operations/look.ts";
import { inOrder } from "../ordered.ts";
import { DocumentSource } from "../documents/document-source.ts";
import { type Written, writtenRows } from "../recorded/written.ts";
import type { Service } from "../service/service.ts";
import type { Clock, Request, RowError } from "../types.ts";
import { isConfirmed } from "./picked-rows.ts";

/** What is told of a row that was read back. It holds no metadata: there may be many of them. */
export type Judged = Pick<Written, "row" | "line" | "datasetId" | "documentId" | "write" | "time"> & {
	/** `unknown` where the document could not be looked at */
	readonly result: Verdict["result"] | "unknown";
	readonly keys: readonly string[];
	/** whether the dataset lists the document; undefined where that is not known */
	readonly isListed: boolean | undefined;
	/** a later run of ours that wrote the document again */
	readonly laterRun?: string;
	/** why it could not be looked at */
	readonly error?: RowError;
};

export type LookBackOptions = {
	readonly service: Service;
	readonly request: Request;
	readonly clock: Clock;
	/** where lists may be kept */
	readonly folder: () => Promise<string>;
	/** looks in flight */
	readonly concurrency: number;
	readonly judge: (
		deed: Deed,
		present: Metadata | undefined,
		keeps: Normalise,
		inexact: InexactValues | undefined,
	) => Verdict;
	/** called before a dataset is listed, with the number of its documents by the service's account */
	readonly onListing?: (datasetId: string, documents: number) => void;
};

/** Rows that are wanted, and how many each dataset has of them. */
export type WantedRows = { has(row: number): boolean; readonly byDataset: ReadonlyMap<string, number> };

/**
 * Reads back what a run wrote, row by row as they were sent, and judges each. Sends nothing that writes.
 *
 * @throws what `request` throws where no other row would fare better
 */
export async function* lookBack(
	run: RecordedRun,
	wanted: WantedRows,
	{ service, request, clock, folder, concurrency, judge, onListing }: LookBackOptions,
): AsyncGenerator<Judged> {
	const api = await service.known(request);
	const { normalise } = api.dialect.flavour;
	const rows = async (): Promise<ReadonlyMap<string, number>> => wanted.byDataset;
	const present = new DocumentSource({ rows, folder, clock, ...(onListing === undefined ? {} : { onListing }) });
	const see = async (written: Written): Promise<Judged> => {
		const { row, line, datasetId, documentId, write, time } = written;
		const told = { row, line, datasetId, documentId, write, time };
		try {
			const held = await present.byId(api, request, datasetId, documentId);
			// A document that never had any may be listed without the member.
			const metadata = held === undefined ? undefined : (held.metadata ?? new Map());
			return { ...told, ...judge(written, metadata, normalise, held?.inexact), isListed: held !== undefined };
		} catch (error) {
			const why = whyFailed(error);
			if (why === undefined) throw error;
			return { ...told, result: "unknown", keys: [], isListed: undefined, error: why };
		}
	};
	try {
		yield* inOrder(wantedOf(run, wanted, normalise), see, concurrency);
	} finally {
		await present.close();
	}
}

async function* wantedOf(run: RecordedRun, wanted: WantedRows, keeps: Normalise): AsyncGenerator<Written> {
	for await (const written of writtenRows(run, keeps)) {
		if (wanted.has(written.row) && isConfirmed(written)) yield written;
	}
}
