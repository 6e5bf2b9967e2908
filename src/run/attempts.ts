import { RestError } from "../rest/errors.ts";
import type { Shutdown } from "./stop/shutdown.ts";
import { errorLimit, type MaxErrors, RefusedAlike, Repeated } from "./stop/limits.ts";
import { mayHaveArrived, type Memory, type Operation, type Settled } from "./operations/operation.ts";
import { LookAgain } from "./operations/settling.ts";
import { decide } from "./retry/policy.ts";
import { timeIsUp } from "./stop/reasons.ts";
import type { SendQueue } from "./rate/send-queue.ts";
import type { Clock, Journal, Request, RowError, Stop, Work } from "./types.ts";

/** A row that was taken up and is not settled. */
export type OpenRow<Item> = {
	readonly item: Item;
	readonly memory: Memory;
	/** tries so far, and those of them that count towards `--attempts` */
	attempt: number;
	counted: number;
	/** tries that something else than the API answered */
	strangers: number;
	/** requests of the run that had succeeded when its last try failed */
	successes?: number | undefined;
};

export type TriesOptions<Item extends Work> = {
	readonly operation: Operation<Item>;
	readonly journal: Journal<Item>;
	readonly clock: Clock;
	readonly ending: Shutdown;
	readonly traffic: SendQueue;
	readonly attempts: number;
	readonly maxErrors: MaxErrors | undefined;
	readonly maxWait: number;
	/** `--max-duration` in milliseconds, infinite where there is none */
	readonly maxDuration: number;
	/** whether `--max-outage` was given: then a first answer is waited for as long */
	readonly patient: boolean;
	readonly onSettled?: (() => void) | undefined;
};

/** The tries of a run's rows: each ends in a record of the journal, in a wait for the next try, or pending. */
export class RowAttempts<Item extends Work> {
	readonly #options: TriesOptions<Item>;
	readonly #deadline: number;
	readonly #refused = new RefusedAlike();
	readonly #repeated = new Repeated();
	readonly #request: Request;
	/** why rows stay pending although nothing ended the run */
	leftBehind: Stop | undefined;

	constructor(options: TriesOptions<Item>) {
		this.#options = options;
		this.#deadline = options.clock.now() + options.maxDuration;
		const { traffic, ending } = options;
		this.#request = (call) => traffic.send(call, ending.signal);
	}

	/** One try, with its record. Resolves with the wait before the next one, or undefined when it is over. */
	async once(row: OpenRow<Item>): Promise<number | undefined> {
		const { operation, journal, ending, onSettled } = this.#options;
		if (ending.signal.aborted) return undefined;
		row.attempt += 1;
		let settled: Settled;
		try {
			settled = await operation(row.item, this.#request, row.memory);
		} catch (error) {
			return error instanceof LookAgain ? this.#lookAgain(row, error.wait) : this.#failed(row, error);
		}
		this.#refused.succeeded();
		this.#repeated.succeeded();
		await journal.record({ item: row.item, ...settled, attempts: row.attempt });
		onSettled?.();
		return undefined;
	}

	/** The row waits without a place in flight. A look at what is there is none of its tries. */
	#lookAgain(row: OpenRow<Item>, wait: number): number | undefined {
		const { ending, clock, maxDuration } = this.#options;
		if (ending.signal.aborted) return undefined;
		row.attempt -= 1;
		if (clock.now() + wait < this.#deadline) return wait;
		this.leftBehind = timeIsUp(maxDuration);
		return undefined;
	}

	/** What a failed try leads to. */
	async #failed(row: OpenRow<Item>, error: unknown): Promise<number | undefined> {
		const { ending, traffic, maxDuration } = this.#options;
		// A request that was cut off or never started says nothing about its row.
		if (ending.abandoned || ending.isReason(error)) return undefined;
		if (!(error instanceof RestError)) throw error;
		const decision = decide(error, this.#stateOf(row, error));
		const repeated = this.#repeated.tried(error);
		if (error.kind === "not_the_api") row.strangers += 1;
		switch (decision.action) {
			case "stop":
				ending.end(decision.stop);
				return undefined;
			case "leave":
				this.leftBehind = timeIsUp(maxDuration);
				if (decision.everyone) ending.end(this.leftBehind);
				return undefined;
			case "retry":
				if (decision.counts) row.counted += 1;
				if (decision.everyone) traffic.pause(decision.wait);
				if (repeated !== undefined) ending.end(repeated);
				return decision.wait;
			case "fail":
				await this.#fail(row, { code: error.code, text: failureText(error, row.attempt) });
				this.#endAfter(error, repeated);
				return undefined;
		}
	}

	/** A row failed for good: says whether the run has seen enough. */
	#endAfter(error: RestError, repeated: Stop | undefined): void {
		const { ending, journal, maxErrors } = this.#options;
		const stop =
			repeated ??
			this.#repeated.failed(error) ??
			(maxErrors === undefined ? this.#refused.failed({ code: error.code, text: error.message }) : undefined) ??
			errorLimit(maxErrors, journal.totals());
		if (stop !== undefined) ending.end(stop);
	}

	#stateOf(row: OpenRow<Item>, error: RestError): Parameters<typeof decide>[1] {
		const { clock, traffic, attempts, maxWait, patient } = this.#options;
		const { outage } = traffic;
		const othersSucceed = row.successes !== undefined && outage.successes > row.successes;
		row.successes = outage.successes;
		return {
			othersSucceed,
			attempt: row.attempt,
			counted: row.counted,
			strangers: row.strangers,
			attempts,
			idempotent: true,
			answered: outage.answered,
			succeeded: outage.succeeded,
			patient,
			outage: traffic.wasLost(error),
			outageLeft: outage.left,
			timeLeft: this.#deadline - clock.now(),
			maxWait,
			random: clock.random(),
			now: Date.now(),
		};
	}

	async #fail({ item, memory, attempt }: OpenRow<Item>, error: RowError): Promise<void> {
		const { journal, onSettled } = this.#options;
		const documentId = memory.stored?.id ?? item.documentId;
		const isUntouched = !mayHaveArrived(memory);
		const named = memory.stored === undefined ? {} : { storedName: memory.stored.name };
		await journal.record({ item, status: "failed", documentId, ...named, error, attempts: attempt, isUntouched });
		onSettled?.();
	}
}

function failureText(error: RestError, attempt: number): string {
	return attempt > 1 ? `${error.message} (after ${attempt} tries)` : error.message;
}
