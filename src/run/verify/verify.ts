import { isSameName } from "../documents/find-named.ts";
import { type Verdict, verdictOf } from "../../plan/verdict.ts";
import { DocumentSource } from "../documents/document-source.ts";
import { AWAIT, hidden } from "../documents/searches.ts";
import type { RecordedRun } from "../journal/reader.ts";
import { rowErrorOf } from "../operations/prepare-update.ts";
import { inOrder } from "../ordered.ts";
import { type WrittenRow, writtenRows } from "../recorded/recorded-rows.ts";
import { READ_BACK_DELAYS_MS, readBack } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Clock, Request, RowError } from "../types.ts";
import { type LaterRun, writtenAgain } from "./later-runs.ts";
import { isConfirmed, type PickedRows, rowsByDataset } from "./picked-rows.ts";

/** Waits before each further read of what seems lost, in milliseconds. The first read had no wait. */
const DELAYS_MS = READ_BACK_DELAYS_MS.filter((delay) => delay > 0);

/**
 * At most so many rows are read again. A list that lags makes the last seconds of a run seem lost, some hundred rows.
 * Where many more are lost, a few more or less change nothing, and each read costs a request.
 */
const MAX_READ_AGAIN = 1_000;

/** Lost rows that are held until later runs are read for them: a few megabytes. */
const LOST_ROWS_HELD = 10_000;

type VerifyOptions = ReadBackOptions & {
	/** runs with the same target that began later, the oldest first */
	readonly laterRuns: () => AsyncIterable<LaterRun>;
	/** ends a wait */
	readonly signal: AbortSignal;
};

/**
 * Reads back the picked rows of a run and yields each once, with its verdict. Rows that seem lost come last: later runs
 * are searched for a write of their documents, then the other ones are read again together.
 */
export async function* verifyRun(
	run: RecordedRun,
	picked: PickedRows,
	options: VerifyOptions,
): AsyncGenerator<JudgedRow> {
	const readAgain = new Map<number, JudgedRow>();
	const explain = async function* (lost: readonly JudgedRow[]): AsyncGenerator<JudgedRow> {
		const again = await writtenAgain(lost, options.laterRuns);
		for (const judged of lost) {
			const laterRun = again.get(judged.row);
			if (laterRun !== undefined) yield { ...judged, result: "changed_since", laterRun };
			else if (readAgain.size < MAX_READ_AGAIN) readAgain.set(judged.row, judged);
			else yield judged;
		}
	};
	let lost: JudgedRow[] = [];
	for await (const judged of judgeRows(run, picked, options)) {
		if (judged.result !== "lost") {
			yield judged;
			continue;
		}
		lost.push(judged);
		if (lost.length < LOST_ROWS_HELD) continue;
		yield* explain(lost);
		lost = [];
	}
	if (lost.length > 0) yield* explain(lost);
	if (readAgain.size === 0) return;
	const found: JudgedRow[] = [];
	const isAllFound = async (): Promise<boolean> => {
		const rows = { has: (row: number) => readAgain.has(row), byDataset: await rowsByDataset(readAgain.values()) };
		for await (const judged of judgeRows(run, rows, options)) {
			if (judged.result !== "lost" && readAgain.delete(judged.row)) found.push(judged);
		}
		return readAgain.size === 0;
	};
	await readBack(isAllFound, { clock: options.clock, delays: DELAYS_MS, signal: options.signal });
	yield* found;
	yield* readAgain.values();
}

/** A row that was read back, with its verdict. It holds no metadata, as there may be many such rows. */
export type JudgedRow = Pick<WrittenRow, "row" | "line" | "datasetId" | "documentId" | "write" | "order"> & {
	/** `unknown` where the document could not be read */
	readonly result: Verdict["result"] | "unknown";
	readonly keys: readonly string[];
	/** whether the dataset lists the document; undefined where that is not known */
	readonly isListed: boolean | undefined;
	/** the document's name, where it was read */
	readonly name?: string | undefined;
	/** a later recorded run that wrote the document again */
	readonly laterRun?: string;
	/** why the document could not be read */
	readonly error?: RowError;
};

type ReadBackOptions = {
	readonly service: Service;
	readonly request: Request;
	readonly clock: Clock;
	/** the folder for lists of documents */
	readonly folder: () => Promise<string>;
	/** documents that are read at the same time */
	readonly concurrency: number;
};

/**
 * Reads the document of each wanted row and judges it, in the order in which the rows were sent. It only reads.
 *
 * @throws what `request` throws where every other row would fail too
 */
async function* judgeRows(
	run: RecordedRun,
	wanted: Pick<PickedRows, "has" | "byDataset">,
	{ service, request, folder, concurrency }: ReadBackOptions,
): AsyncGenerator<JudgedRow> {
	const api = await service.known(request);
	const { normalise } = api.dialect.flavour;
	await using documents = new DocumentSource({ rows: wanted.byDataset, folder, service, doubts: AWAIT });
	const judgeRow = async (written: WrittenRow): Promise<JudgedRow> => {
		const { row, line, datasetId, documentId, write, order } = written;
		const facts = { row, line, datasetId, documentId, write, order };
		try {
			const document = await documents.byId(api, request, datasetId, documentId);
			if (document?.isDoubted === true) throw hidden(datasetId);
			// A list may leave out the metadata member of a document that has none.
			const metadata = document === undefined ? undefined : (document.metadata ?? new Map());
			const { name } = document ?? {};
			const isNamed = written.names === undefined || name === undefined || isSameName(name, written.names.to);
			const verdict = isNamed
				? verdictOf(written, metadata, normalise, document?.inexact)
				: ({ result: "lost", keys: ["name"] } as const);
			return { ...facts, ...verdict, isListed: document !== undefined, name };
		} catch (error) {
			const why = rowErrorOf(error);
			if (why === undefined) throw error;
			return { ...facts, result: "unknown", keys: [], isListed: undefined, error: why };
		}
	};
	const confirmed = async function* (): AsyncGenerator<WrittenRow> {
		for await (const written of writtenRows(run, normalise)) {
			if (wanted.has(written.row) && isConfirmed(written)) yield written;
		}
	};
	yield* inOrder(documents.expecting(confirmed()), judgeRow, concurrency);
}
