import { countSettled } from "../../outcomes.ts";
import { outcomeRecordOf, replacementOf, sentRecordOf } from "./row-records.ts";
import type { OpenRun } from "../journal/open.ts";
import type { RowInDoubt } from "../journal/reader.ts";
import type { OutcomeRecord, SentRecord, StoredRecord } from "../journal/records.ts";
import type { Earlier, Sending, SentLog } from "../operations/operation.ts";
import type { JournalState } from "../journal/state.ts";
import type { Appended, JournalWriter } from "../journal/writer.ts";
import { type Journal, type Outcome, type Recorded, SUPERSEDED, type Totals, type Work } from "../types.ts";

/**
 * The journal of a run on disk. A write is durable in it before the write is sent, and an outcome before its row leaves
 * the rows in flight. Totals come from the records alone.
 */
export class Recorder<Item extends Work> implements Journal<Item>, SentLog {
	/** what the durable records say */
	readonly state: JournalState;
	readonly #writer: JournalWriter;
	readonly #inDoubt: ReadonlyMap<number, RowInDoubt>;
	readonly #now: () => number;
	readonly #onOutcome: ((outcome: Outcome<Item>) => Promise<void> | void) | undefined;
	/** rows in doubt that had failed and were reopened */
	readonly #reopened = new Set<number>();
	/** the records that were added last, which are counted when they are durable */
	#group: Group<Item> | undefined;

	/**
	 * @param inDoubt rows that earlier executions may have sent and did not settle
	 * @param now wall clock, in epoch milliseconds
	 * @param onOutcome called with each outcome once, after it is counted
	 */
	constructor(
		{ journal, state }: OpenRun,
		inDoubt: ReadonlyMap<number, RowInDoubt>,
		now: () => number,
		onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void,
	) {
		this.state = state;
		this.#writer = journal;
		this.#inDoubt = inDoubt;
		this.#now = now;
		this.#onOutcome = onOutcome;
	}

	/** Whether a row has its outcome, of this execution or an earlier one. */
	isSettled(index: number): boolean {
		return this.state.statusOf(index) !== undefined;
	}

	record(outcome: Outcome<Item>): Recorded {
		const { index, line } = outcome.item;
		if (this.isSettled(index)) throw new Error(`the row of line ${line} was settled twice`);
		return this.#record(outcome);
	}

	/** Fails a row that an earlier execution had done. Its write was applied, and stays recorded. */
	changedSince(outcome: Outcome<Item>): Promise<void> {
		return this.#record(outcome).settled;
	}

	#record(outcome: Outcome<Item>): Recorded {
		const { index } = outcome.item;
		// An earlier execution may have applied its write, even if the service has refused the one of this execution.
		const isUntouched = outcome.isUntouched === true && !this.#inDoubt.has(index);
		return this.#append(outcomeRecordOf(outcome, isUntouched), outcome);
	}

	/** Many records have the same promises, so that a million rows do not make a million of them. */
	#append(record: RowRecord, outcome?: Outcome<Item>): Group<Item> {
		const appended = this.#writer.add(record);
		let group = this.#group;
		if (group?.appended !== appended) {
			const entries: Settling<Item>[] = [];
			const settled = appended.durable.then(() => this.#count(entries));
			// A row whose record was refused does not wait for its group.
			settled.catch(() => undefined);
			group = { appended, entries, written: appended.written, settled };
			this.#group = group;
		}
		group.entries.push({ record, outcome });
		return group;
	}

	/** Counts durable records, then reports the outcomes. All are counted, whatever is wrong with one of them. */
	async #count(entries: readonly Settling<Item>[]): Promise<void> {
		const faults: unknown[] = [];
		for (const { record } of entries) {
			const broken = this.state.apply(record);
			if (broken !== undefined) faults.push(new Error(`the journal refuses the row of line ${record.line}: ${broken}`));
		}
		for (const { outcome } of this.#onOutcome === undefined ? [] : entries) {
			try {
				const told = outcome && this.#onOutcome?.(outcome);
				if (told !== undefined) await told;
			} catch (error) {
				faults.push(error);
			}
		}
		if (faults.length > 0) throw faults[0];
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
		const { sent, stored } = row;
		return {
			namesakes: sent?.write === "update" ? undefined : (sent?.namesakes ?? []),
			name: sent?.fileName,
			size: sent?.size,
			stored: stored === undefined ? undefined : { id: stored.documentId, name: stored.storedName },
			before: sent?.before,
			replaces: replacementOf(row),
			// If the clock was set back since, the age is unknown and counts as 0.
			age: this.#reopened.has(index) || sent === undefined ? 0 : Math.max(0, this.#now() - sent.time),
		};
	}

	async sending(item: Work, sending: Sending): Promise<void> {
		await this.#append(sentRecordOf(item, sending, this.#now())).settled;
	}

	async stored(
		{ index: row, line, datasetId }: Work,
		{ id, name }: { readonly id: string; readonly name: string },
	): Promise<void> {
		await this.#append({ kind: "stored", row, line, datasetId, documentId: id, storedName: name }).settled;
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
		const record = { kind: "reopen", time: now.toISOString(), ...(isAll ? {} : { codes }) } as const;
		await this.#writer.append(record);
		this.state.apply(record);
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
		const record = { kind: "end", counts: this.totals(), exitCode, time: now.toISOString() } as const;
		await this.#writer.append(record);
		this.state.apply(record);
		return this.#writer.size;
	}

	close(): Promise<void> {
		return this.#writer.close();
	}
}

type RowRecord = OutcomeRecord | SentRecord | StoredRecord;
type Settling<Item extends Work> = { readonly record: RowRecord; readonly outcome: Outcome<Item> | undefined };

/** Records that become durable together. */
type Group<Item extends Work> = Recorded & { readonly appended: Appended; readonly entries: Settling<Item>[] };
