import { countSettled } from "../../outcomes.ts";
import type { RowInDoubt } from "../journal/reader.ts";
import type { OutcomeRecord } from "../journal/records.ts";
import type { Earlier, Sending, SentLog } from "../operations/operation.ts";
import type { JournalState } from "../journal/state.ts";
import type { JournalWriter } from "../journal/writer.ts";
import { type Journal, type Outcome, SUPERSEDED, TAKEN_BACK, type Totals, type Work } from "../types.ts";

/**
 * The journal of a run on disk. A write is durable in it before the write is sent, and an outcome before its row leaves
 * the rows in flight. Totals come from the records alone.
 */
export class Recorder<Item extends Work> implements Journal<Item>, SentLog {
	readonly #writer: JournalWriter;
	readonly #inDoubt: ReadonlyMap<number, RowInDoubt>;
	readonly #now: () => number;
	readonly #onOutcome: ((outcome: Outcome<Item>) => Promise<void> | void) | undefined;
	/** rows in doubt that had failed and were reopened */
	readonly #reopened = new Set<number>();

	/**
	 * @param inDoubt rows that earlier executions may have sent and did not settle
	 * @param now wall clock, in epoch milliseconds
	 * @param onOutcome called with each outcome once, after it is counted
	 */
	constructor(
		writer: JournalWriter,
		inDoubt: ReadonlyMap<number, RowInDoubt>,
		now: () => number,
		onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void,
	) {
		this.#writer = writer;
		this.#inDoubt = inDoubt;
		this.#now = now;
		this.#onOutcome = onOutcome;
	}

	/** What the durable records say. */
	get state(): JournalState {
		return this.#writer.state;
	}

	/** Whether a row has its outcome, of this execution or an earlier one. */
	isSettled(index: number): boolean {
		return this.state.statusOf(index) !== undefined;
	}

	async record(outcome: Outcome<Item>): Promise<void> {
		const { index, line } = outcome.item;
		const takesBack = outcome.error !== undefined && TAKEN_BACK.has(outcome.error.code);
		if (this.isSettled(index) && !takesBack) throw new Error(`the row of line ${line} was settled twice`);
		// An earlier execution may have applied its write, even if the service has refused the one of this execution.
		const isUntouched = outcome.isUntouched === true && !this.#inDoubt.has(index);
		await this.#writer.append(outcomeRecordOf(outcome, isUntouched));
		await this.#onOutcome?.(outcome);
	}

	totals(): Totals {
		return this.state.totals();
	}

	/** The codes of the failed rows, each once, over all executions, but for rows left to a newer run. */
	failedCodes(): readonly string[] {
		return this.state.failedCodes().filter((code) => code !== SUPERSEDED);
	}

	earlier(index: number): Earlier | undefined {
		const row = this.#inDoubt.get(index);
		if (row === undefined) return undefined;
		// If the clock was set back since, the age is unknown and counts as 0.
		const isKnown = row.sent !== undefined && !this.#reopened.has(index);
		return { ...row, age: isKnown ? Math.max(0, this.#now() - row.sent.time) : 0 };
	}

	async sending({ index: row, line, datasetId }: Work, sending: Sending): Promise<void> {
		const record = { kind: "sent", row, line, datasetId, time: this.#now(), ...sending } as const;
		await this.#writer.append(record).catch((error: unknown) => {
			if (!(error instanceof RangeError)) throw error;
			// The record is too long with what the document had. The user asked for the write.
			return this.#writer.append({ ...record, before: undefined });
		});
	}

	stored(
		{ index: row, line, datasetId }: Work,
		{ id, name }: { readonly id: string; readonly name: string },
	): Promise<void> {
		return this.#writer.append({ kind: "stored", row, line, datasetId, documentId: id, storedName: name });
	}

	/** Of the failed rows, those whose documents a newer run had touched. */
	get superseded(): number {
		return this.state.superseded;
	}

	/** Makes failed rows pending again, so that they are sent once more: not those of a newer run, unless all are meant. */
	async reopen(now: Date, includeSuperseded: boolean): Promise<void> {
		for (const row of this.#inDoubt.keys()) if (this.isSettled(row)) this.#reopened.add(row);
		const codes = this.failedCodes();
		const isAll = includeSuperseded || this.superseded === 0;
		await this.#writer.append({ kind: "reopen", time: now.toISOString(), ...(isAll ? {} : { codes }) });
	}

	/** Whether any row may have been sent, or has an outcome, in this execution or an earlier one. */
	get hasBegun(): boolean {
		return this.state.wrote || countSettled(this.totals()) > 0;
	}

	/**
	 * Records how this execution ended. A lost journal ends without that record, like the journal of a killed run.
	 *
	 * @returns bytes of the journal; undefined where it is lost
	 */
	async end(exitCode: number, now: Date): Promise<number | undefined> {
		if (this.#writer.lost !== undefined) return undefined;
		await this.#writer.append({ kind: "end", counts: this.totals(), exitCode, time: now.toISOString() });
		return this.#writer.size;
	}

	close(): Promise<void> {
		return this.#writer.close();
	}
}

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
		return { ...common, status, isSame: status === "updated" && isSame === true ? true : undefined };
	const { code, text } = error ?? { code: "UNKNOWN", text: "no reason is known" };
	return { ...common, status, error: { code, text }, isUntouched: isUntouched ? true : undefined };
}
