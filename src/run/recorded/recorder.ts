import { countSettled } from "../../outcomes.ts";
import type { RowInDoubt } from "../journal/reader.ts";
import type { OutcomeRecord } from "../journal/records.ts";
import type { Earlier, Sending } from "../operations/operation.ts";
import type { JournalWriter } from "../journal/writer.ts";
import { type Outcome, SUPERSEDED, TAKEN_BACK, type Totals, type Work } from "../types.ts";

/** The journal of a run on disk. */
export type Recorder<Item extends Work> = ReturnType<typeof recorderOf<Item>>;

/**
 * The journal of a run on disk. A write is durable in it before the write is sent, and an outcome before its row leaves
 * the rows in flight. Totals come from the records alone.
 *
 * @param inDoubt rows that earlier executions may have sent and did not settle
 * @param now wall clock, in epoch milliseconds
 * @param onOutcome called with each outcome once, after it is counted
 */
export function recorderOf<Item extends Work>(
	writer: JournalWriter,
	inDoubt: ReadonlyMap<number, RowInDoubt>,
	now: () => number,
	onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void,
) {
	const { state } = writer;
	/** rows in doubt that had failed and were reopened */
	const reopened = new Set<number>();
	const isSettled = (index: number): boolean => state.statusOf(index) !== undefined;
	const failedCodes = (): readonly string[] => state.failedCodes().filter((code) => code !== SUPERSEDED);
	return {
		/** what the durable records say */
		state,
		/** Whether a row has its outcome, of this execution or an earlier one. */
		isSettled,
		/** The codes of the failed rows, each once, over all executions, but for rows left to a newer run. */
		failedCodes,
		totals: (): Totals => state.totals(),
		/** of the failed rows, those whose documents a newer run had touched */
		get superseded(): number {
			return state.superseded;
		},
		/** Whether any row may have been sent, or has an outcome, in this execution or an earlier one. */
		get hasBegun(): boolean {
			return state.wrote || countSettled(state.totals()) > 0;
		},
		async record(outcome: Outcome<Item>): Promise<void> {
			const { index, line } = outcome.item;
			const takesBack = outcome.error !== undefined && TAKEN_BACK.has(outcome.error.code);
			if (isSettled(index) && !takesBack) throw new Error(`the row of line ${line} was settled twice`);
			// An earlier execution may have applied its write, even if the service has refused the one of this execution.
			const isUntouched = outcome.isUntouched === true && !inDoubt.has(index);
			await writer.append(outcomeRecordOf(outcome, isUntouched));
			await onOutcome?.(outcome);
		},
		earlier(index: number): Earlier | undefined {
			const row = inDoubt.get(index);
			if (row === undefined) return undefined;
			// If the clock was set back since, the age is unknown and counts as 0.
			const isKnown = row.sent !== undefined && !reopened.has(index);
			return { age: isKnown ? Math.max(0, now() - row.sent.time) : 0, ...row };
		},
		async sending({ index: row, line, datasetId }: Work, sending: Sending): Promise<void> {
			const record = { kind: "sent", row, line, datasetId, time: now(), ...sending } as const;
			await writer.append(record).catch((error: unknown) => {
				if (!(error instanceof RangeError)) throw error;
				// The record is too long with what the document had. The user asked for the write.
				return writer.append({ ...record, before: undefined });
			});
		},
		stored({ index: row, line, datasetId }: Work, { id, name }: Stored): Promise<void> {
			return writer.append({ kind: "stored", row, line, datasetId, documentId: id, storedName: name });
		},
		/** Makes failed rows pending again, so that they are sent once more: not those of a newer run, unless all are meant. */
		async reopen(time: Date, includeSuperseded: boolean): Promise<void> {
			for (const row of inDoubt.keys()) if (isSettled(row)) reopened.add(row);
			const isAll = includeSuperseded || state.superseded === 0;
			await writer.append({ kind: "reopen", time: time.toISOString(), ...(isAll ? {} : { codes: failedCodes() }) });
		},
		/**
		 * Records how this execution ended. A lost journal ends without that record, like the journal of a killed run.
		 *
		 * @returns bytes of the journal; undefined where it is lost
		 */
		async end(exitCode: number, time: Date): Promise<number | undefined> {
			if (writer.lost !== undefined) return undefined;
			await writer.append({ kind: "end", counts: state.totals(), exitCode, time: time.toISOString() });
			return writer.size;
		},
		close: (): Promise<void> => writer.close(),
	};
}

type Stored = { readonly id: string; readonly name: string };

/** The record of an outcome. @param isUntouched whether certainly nothing of a failed row was applied, in this execution or an earlier one */
function outcomeRecordOf(
	{ item, status, documentId, storedName, attempts, isSame, error }: Outcome,
	isUntouched: boolean,
): OutcomeRecord {
	const { index: row, line } = item;
	// Other rows have a record of what was sent, which names it.
	const datasetId = status === "unchanged" || status === "parsed" ? item.datasetId : "";
	const common = { kind: "outcome", row, line, attempts, datasetId, documentId, storedName } as const;
	if (status !== "failed")
		return { status, isSame: status === "updated" && isSame === true ? true : undefined, ...common };
	const { code, text } = error ?? { code: "UNKNOWN", text: "no reason is known" };
	return { status, error: { code, text }, isUntouched: isUntouched ? true : undefined, ...common };
}
