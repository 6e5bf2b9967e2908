import type { RecordedRun } from "../journal/reader.ts";
import { READ_BACK_DELAYS_MS, readBack } from "../retry/retry.ts";
import type { Request, Clock, RowError } from "../types.ts";
import { type LaterRun, writtenAgain } from "./later-runs.ts";
import { countByDataset, isConfirmed, type PickedRows } from "./picked-rows.ts";
import type { Metadata } from "../../json/values.ts";
import type { Verdict, Deed } from "../../plan/verdict.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { DocumentSource } from "../documents/document-source.ts";
import { whyFailed } from "../operations/look.ts";
import { inOrder } from "../ordered.ts";
import { type WrittenRow, writtenRows } from "../recorded/recorded-rows.ts";
import type { Service } from "../service/service.ts";

/** Waits before each further read of what seems lost, in milliseconds. The first read had no wait. */
const DELAYS_MS = READ_BACK_DELAYS_MS.filter((delay) => delay > 0);

/**
 * Rows that are looked at again at most: a lag makes the last seconds of a run look lost, some hundred rows. Where many
 * more are lost a few of them more or less change nothing, and each look costs a request.
 */
const LOOKED_AT_AGAIN = 1_000;

/** Lost rows that are held while later runs are read for them: a few megabytes. */
const HELD = 10_000;

export type VerifyOptions = ReadBackOptions & {
	/** runs of the same target that began later, the oldest first */
	readonly laterRuns: () => AsyncIterable<LaterRun>;
	/** ends a wait */
	readonly signal: AbortSignal;
};

/**
 * Reads back the picked rows of a run, and tells each once. Those that look lost come last: first it is seen whether a
 * later run wrote their documents again, then they are looked at again, all together.
 */
export async function* verifyRun(
	run: RecordedRun,
	picked: PickedRows,
	options: VerifyOptions,
): AsyncGenerator<JudgedRow> {
	const doubtful = new Map<number, JudgedRow>();
	const settle = async function* (lost: readonly JudgedRow[]): AsyncGenerator<JudgedRow> {
		const again = await writtenAgain(lost, options.laterRuns);
		for (const judged of lost) {
			const laterRun = again.get(judged.row);
			if (laterRun !== undefined) yield { ...judged, result: "changed_since", laterRun };
			else if (doubtful.size < LOOKED_AT_AGAIN) doubtful.set(judged.row, judged);
			else yield judged;
		}
	};
	let lost: JudgedRow[] = [];
	for await (const judged of readBackRows(run, picked, options)) {
		if (judged.result !== "lost") {
			yield judged;
			continue;
		}
		lost.push(judged);
		if (lost.length < HELD) continue;
		yield* settle(lost);
		lost = [];
	}
	if (lost.length > 0) yield* settle(lost);
	if (doubtful.size === 0) return;
	const found: JudgedRow[] = [];
	const isAllFound = async (): Promise<boolean> => {
		const rows = { has: (row: number) => doubtful.has(row), byDataset: countByDataset(doubtful.values()) };
		for await (const judged of readBackRows(run, rows, options)) {
			if (judged.result !== "lost" && doubtful.delete(judged.row)) found.push(judged);
		}
		return doubtful.size === 0;
	};
	await readBack(isAllFound, { clock: options.clock, delays: DELAYS_MS, signal: options.signal });
	yield* found;
	yield* doubtful.values();
}

/** What is told of a row that was read back. It holds no metadata: there may be many of them. */
export type JudgedRow = Pick<WrittenRow, "row" | "line" | "datasetId" | "documentId" | "write" | "time"> & {
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

export type ReadBackOptions = {
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
export async function* readBackRows(
	run: RecordedRun,
	wanted: WantedRows,
	{ service, request, clock, folder, concurrency, judge, onListing }: ReadBackOptions,
): AsyncGenerator<JudgedRow> {
	const api = await service.known(request);
	const { normalise } = api.dialect.flavour;
	const rows = async (): Promise<ReadonlyMap<string, number>> => wanted.byDataset;
	const present = new DocumentSource({ rows, folder, clock, ...(onListing === undefined ? {} : { onListing }) });
	const see = async (written: WrittenRow): Promise<JudgedRow> => {
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

async function* wantedOf(run: RecordedRun, wanted: WantedRows, keeps: Normalise): AsyncGenerator<WrittenRow> {
	for await (const written of writtenRows(run, keeps)) {
		if (wanted.has(written.row) && isConfirmed(written)) yield written;
	}
}
