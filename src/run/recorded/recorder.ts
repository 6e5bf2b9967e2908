import { type Metadata, metadataText } from "../../json/values.ts";
import type { Earlier, Sending, SentLog } from "../operations/sent-log.ts";
import type { RowInDoubt } from "../journal/reader.ts";
import { countWithoutBeforeImage, countStoredButFailed } from "../journal/sent-state.ts";
import type { OpenRun } from "../journal/open.ts";
import type { OutcomeRecord, SentRecord, StoredRecord } from "../journal/records.ts";
import type { Journal, Outcome, Totals, Work } from "../types.ts";

/**
 * The journal of a run on disk: what goes out is durable before it does, and an outcome before its place in flight is
 * free. Totals come from the records alone.
 */
export class Recorder<Item extends Work> implements Journal<Item>, SentLog {
	readonly #run: OpenRun;
	readonly #doubts: ReadonlyMap<number, RowInDoubt>;
	readonly #now: () => number;
	/** rows in doubt that had failed and are open again */
	readonly #reopened = new Set<number>();
	readonly #onOutcome: ((outcome: Outcome<Item>) => Promise<void> | void) | undefined;

	/**
	 * @param doubts what earlier sittings sent and did not settle
	 * @param now wall clock, in epoch milliseconds
	 * @param onOutcome sees each outcome once, after it counts
	 */
	constructor(
		run: OpenRun,
		doubts: ReadonlyMap<number, RowInDoubt>,
		now: () => number,
		onOutcome?: (outcome: Outcome<Item>) => Promise<void> | void,
	) {
		this.#run = run;
		this.#doubts = doubts;
		this.#now = now;
		this.#onOutcome = onOutcome;
	}

	/** Whether a row has its outcome: in this sitting or an earlier one. */
	isSettled(index: number): boolean {
		return this.#run.state.statusOf(index) !== undefined;
	}

	async record(outcome: Outcome<Item>): Promise<void> {
		const { index, line } = outcome.item;
		if (this.isSettled(index)) throw new Error(`the row of line ${line} was settled twice`);
		// What an earlier sitting sent is not made undone by what the service says to this one.
		const isUntouched = outcome.isUntouched === true && !this.#doubts.has(index);
		const record = recordOf({ ...outcome, isUntouched });
		await this.#run.journal.append(record);
		const broken = this.#run.state.apply(record);
		if (broken !== undefined) throw new Error(`the journal refuses the row of line ${line}: ${broken}`);
		await this.#onOutcome?.(outcome);
	}

	totals(): Totals {
		return this.#run.state.totals();
	}

	/** How many rows failed with that code, in all sittings together. */
	failedWith(code: string): number {
		return this.#run.state.failedWith(code);
	}

	/** Rows that were updated with what their documents had already. */
	get noOpUpdates(): number {
		return this.#run.state.noOpUpdates;
	}

	/** Rows that were written over something that is not known: they can't be undone. */
	get withoutBeforeImage(): number {
		return countWithoutBeforeImage(this.#run.state, this.#run.sentState);
	}

	/** Rows that failed although their files were stored. */
	get storedButFailed(): number {
		return countStoredButFailed(this.#run.state, this.#run.sentState);
	}

	earlier(index: number): Earlier | undefined {
		const doubt = this.#doubts.get(index);
		if (doubt === undefined) return undefined;
		const { sent, stored } = doubt;
		return {
			namesakes: sent?.write === "update" ? undefined : (sent?.namesakes ?? []),
			stored: stored === undefined ? undefined : { id: stored.documentId, name: stored.storedName },
			// A clock that was set back tells nothing.
			age: this.#reopened.has(index) || sent?.time === undefined ? 0 : Math.max(0, this.#now() - sent.time),
		};
	}

	sending({ index, line, datasetId }: Work, sending: Sending): Promise<void> {
		return this.#sent({ ...sentOf(index, datasetId, sending), line, time: this.#now() });
	}

	stored({ index }: Work, { id, name }: { readonly id: string; readonly name: string }): Promise<void> {
		return this.#sent({ kind: "stored", row: index, documentId: id, storedName: name });
	}

	/** Opens the rows that failed, so that they are tried again. */
	async reopen(now: Date): Promise<void> {
		for (const row of this.#doubts.keys()) if (this.isSettled(row)) this.#reopened.add(row);
		const record = { kind: "reopen", time: now.toISOString() } as const;
		await this.#run.journal.append(record);
		this.#run.state.apply(record);
	}

	/** Writes down how this sitting ended. A journal that is lost ends without it, as that of a killed run does. */
	async end(exitCode: number, now: Date): Promise<void> {
		if (this.#run.journal.lost !== undefined) return;
		const record = { kind: "end", counts: this.totals(), exitCode, time: now.toISOString() } as const;
		await this.#run.journal.append(record);
		this.#run.state.apply(record);
	}

	close(): Promise<void> {
		return this.#run.close();
	}

	async #sent(record: SentRecord | StoredRecord): Promise<void> {
		await this.#run.sent.append(record);
		const broken = this.#run.sentState.apply(record);
		if (broken !== undefined) throw new Error(`the record of what is sent refuses row ${record.row}: ${broken}`);
	}
}

function recordOf<Item extends Work>({
	item,
	status,
	documentId,
	storedName,
	isSame,
	isUntouched,
	error,
	attempts,
}: Outcome<Item>): OutcomeRecord {
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

/** Bytes of a before-image at most: with what is sent beside it, its record must stay one that is read back. */
const LARGEST_IMAGE = 4 * 1024 * 1024;

function isTooLarge(image: Metadata): boolean {
	return Buffer.byteLength(metadataText(image)) > LARGEST_IMAGE;
}

function sentOf(row: number, datasetId: string, sending: Sending): SentRecord {
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
