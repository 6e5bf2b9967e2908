import { type Metadata, metadataText } from "../../json/values.ts";
import type { OpenRun } from "../journal/open.ts";
import type { RowInDoubt } from "../journal/reader.ts";
import type { OutcomeRecord, SentRecord, StoredRecord } from "../journal/records.ts";
import { countStoredButFailed, countWithoutBeforeImage } from "../journal/sent-state.ts";
import type { Earlier, Sending, SentLog } from "../operations/sent-log.ts";
import type { Journal, Outcome, Totals, Work } from "../types.ts";

/**
 * The journal of a run on disk. A write is durable in it before the write is sent, and an outcome before its row leaves
 * the rows in flight. Totals come from the records alone.
 */
export class Recorder<Item extends Work> implements Journal<Item>, SentLog {
	readonly #run: OpenRun;
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
		run: OpenRun,
		inDoubt: ReadonlyMap<number, RowInDoubt>,
		now: () => number,
		onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void,
	) {
		this.#run = run;
		this.#inDoubt = inDoubt;
		this.#now = now;
		this.#onOutcome = onOutcome;
	}

	/** Whether a row has its outcome, of this execution or an earlier one. */
	isSettled(index: number): boolean {
		return this.#run.state.statusOf(index) !== undefined;
	}

	async record(outcome: Outcome<Item>): Promise<void> {
		const { index, line } = outcome.item;
		if (this.isSettled(index)) throw new Error(`the row of line ${line} was settled twice`);
		// An earlier execution may have applied its write, even if the service has refused the one of this execution.
		const isUntouched = outcome.isUntouched === true && !this.#inDoubt.has(index);
		const record = outcomeRecordOf({ ...outcome, isUntouched });
		await this.#run.journal.append(record);
		const broken = this.#run.state.apply(record);
		if (broken !== undefined) throw new Error(`the journal refuses the row of line ${line}: ${broken}`);
		await this.#onOutcome?.(outcome);
	}

	totals(): Totals {
		return this.#run.state.totals();
	}

	/** How many rows failed with that code, over all executions. */
	failedWith(code: string): number {
		return this.#run.state.failedWith(code);
	}

	/** The number of updated rows whose documents already had the metadata. */
	get noOpUpdates(): number {
		return this.#run.state.noOpUpdates;
	}

	/** The number of rows that can't be undone, as they were written without a before-image. */
	get withoutBeforeImage(): number {
		return countWithoutBeforeImage(this.#run.state, this.#run.sentState);
	}

	/** The number of rows that failed after their files were stored. */
	get storedButFailed(): number {
		return countStoredButFailed(this.#run.state, this.#run.sentState);
	}

	earlier(index: number): Earlier | undefined {
		const row = this.#inDoubt.get(index);
		if (row === undefined) return undefined;
		const { sent, stored } = row;
		return {
			namesakes: sent?.write === "update" ? undefined : (sent?.namesakes ?? []),
			stored: stored === undefined ? undefined : { id: stored.documentId, name: stored.storedName },
			// If the clock was set back since, the age is unknown and counts as 0.
			age: this.#reopened.has(index) || sent?.time === undefined ? 0 : Math.max(0, this.#now() - sent.time),
		};
	}

	sending({ index, line, datasetId }: Work, sending: Sending): Promise<void> {
		return this.#appendSent({ ...sentRecordOf(index, datasetId, sending), line, time: this.#now() });
	}

	stored({ index }: Work, { id, name }: { readonly id: string; readonly name: string }): Promise<void> {
		return this.#appendSent({ kind: "stored", row: index, documentId: id, storedName: name });
	}

	/** Makes failed rows pending again, so that they are sent once more. */
	async reopen(now: Date): Promise<void> {
		for (const row of this.#inDoubt.keys()) if (this.isSettled(row)) this.#reopened.add(row);
		const record = { kind: "reopen", time: now.toISOString() } as const;
		await this.#run.journal.append(record);
		this.#run.state.apply(record);
	}

	/** Whether any row may have been sent, or has an outcome, in this execution or an earlier one. */
	get hasBegun(): boolean {
		const { rows, pending, invalid, duplicateSkipped } = this.totals();
		return this.wrote || rows - pending - invalid - duplicateSkipped > 0;
	}

	/** Whether any row may have been sent. A record that a repair lost counts as one. */
	get wrote(): boolean {
		const { count, lost } = this.#run.sentState;
		return count + lost > 0;
	}

	/**
	 * Records how this execution ended. A lost journal ends without that record, like the journal of a killed run.
	 *
	 * @returns bytes of the journal; undefined where it is lost
	 */
	async end(exitCode: number, now: Date): Promise<number | undefined> {
		if (this.#run.journal.lost !== undefined) return undefined;
		const record = { kind: "end", counts: this.totals(), exitCode, time: now.toISOString() } as const;
		await this.#run.journal.append(record);
		this.#run.state.apply(record);
		return this.#run.journal.size;
	}

	close(): Promise<void> {
		return this.#run.close();
	}

	async #appendSent(record: SentRecord | StoredRecord): Promise<void> {
		await this.#run.sent.append(record);
		const broken = this.#run.sentState.apply(record);
		if (broken !== undefined) throw new Error(`the record of what is sent refuses row ${record.row}: ${broken}`);
	}
}

function outcomeRecordOf<Item extends Work>(outcome: Outcome<Item>): OutcomeRecord {
	const { item, status, documentId, storedName, isSame, isUntouched, error, attempts } = outcome;
	const row = {
		kind: "outcome",
		row: item.index,
		line: item.line,
		attempts,
		documentId,
		...(storedName === undefined ? {} : { storedName }),
	} as const;
	if (status === "updated" && isSame === true) return { ...row, status, isSame };
	if (status !== "failed") return { ...row, status };
	const untouched = isUntouched === true ? { isUntouched } : {};
	return { ...row, status, ...untouched, error: error ?? { code: "UNKNOWN", text: "no reason is known" } };
}

/** The most bytes of a before-image. Its record also has the metadata that is sent, and must stay short enough to be read. */
const MAX_BEFORE_IMAGE_BYTES = 4 * 1024 * 1024;

function isTooLarge(image: Metadata): boolean {
	return Buffer.byteLength(metadataText(image)) > MAX_BEFORE_IMAGE_BYTES;
}

function sentRecordOf(row: number, datasetId: string, sending: Sending): SentRecord {
	const base = { kind: "sent", row, datasetId } as const;
	switch (sending.what) {
		case "update": {
			const { documentId, metadata, before } = sending;
			const image = before === undefined || isTooLarge(before) ? {} : { before };
			return { ...base, documentId, write: "update", metadata, ...image };
		}
		case "remove":
			return { ...base, documentId: sending.documentId, write: "remove" };
		case "upload": {
			const { metadata, name, size, namesakes } = sending;
			return { ...base, documentId: "", write: "upload", metadata, fileName: name, size, namesakes };
		}
	}
}
