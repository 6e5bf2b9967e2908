import { RestError } from "../rest/errors.ts";
import type { Shutdown } from "./stop/shutdown.ts";
import { errorLimit, type MaxErrors, SameRefusals, RepeatedFailures } from "./stop/limits.ts";
import { mayHaveArrived, type Memory, type Operation, type Settled } from "./operations/operation.ts";
import { type Attempts, type Conditions, decide, type Decision } from "./retry/policy.ts";
import { type InFlight, type LastDecision, noAttempts, retry, RetryLater, type RetryOptions } from "./retry/retry.ts";
import { timeIsUp } from "./stop/reasons.ts";
import type { RunMonitor } from "./rate/run-monitor.ts";
import type { SendQueue } from "./rate/send-queue.ts";
import type { Clock, Journal, Request, RowError, Stop, Work } from "./types.ts";

export type AttemptsOptions<Item extends Work> = {
	readonly operation: Operation<Item>;
	readonly journal: Journal<Item>;
	readonly clock: Clock;
	readonly shutdown: Shutdown;
	readonly queue: SendQueue;
	readonly monitor: Pick<RunMonitor, "tryingAgain">;
	/** holds a row's place in flight for an attempt and its record */
	readonly inFlight: InFlight;
	/** called when a row begins to wait for its next attempt, and its place in flight is free */
	readonly onWait: () => void;
	/** attempts of one row that count, the first included */
	readonly attempts: number;
	readonly maxErrors: MaxErrors | undefined;
	/** the longest Retry-After that is waited for, in milliseconds */
	readonly maxWait: number;
	/** `--max-duration` in milliseconds, infinite where there is none */
	readonly maxDuration: number;
	/** whether `--max-outage` was given: then a first answer is waited for as long */
	readonly patient: boolean;
	readonly onSettled?: (() => void) | undefined;
};

/** A row that is not settled, and its attempts so far. */
type OpenRow<Item> = Attempts & {
	readonly item: Item;
	readonly memory: Memory;
	/** requests of the run that had succeeded when its last attempt failed */
	successes?: number;
};

/** The attempts of a run's rows. Each row ends with a record of the journal, or stays pending. */
export class RowAttempts<Item extends Work> {
	readonly #options: AttemptsOptions<Item>;
	readonly #deadline: number;
	readonly #refused = new SameRefusals();
	readonly #repeated = new RepeatedFailures();
	readonly #request: Request;
	/** one object for all rows: a run has millions */
	readonly #retryOptions: RetryOptions<void, RestError | RetryLater, OpenRow<Item>>;
	/** why rows stay pending although nothing ended the run */
	leftBehind: Stop | undefined;

	constructor(options: AttemptsOptions<Item>) {
		this.#options = options;
		const { clock, queue, shutdown, inFlight, onWait, maxDuration } = options;
		this.#deadline = clock.now() + maxDuration;
		this.#request = (call) => queue.send(call, shutdown.signal);
		this.#retryOptions = {
			clock,
			signal: shutdown.signal,
			inFlight,
			onWait,
			isFailure: (error) => error instanceof RestError || error instanceof RetryLater,
			decide: (error, row) => (error instanceof RetryLater ? this.#later(error, row) : this.#decide(error, row)),
			pause: (wait) => queue.pause(wait),
			giveUp: (error, decision, row) => this.#giveUp(error, decision, row),
		};
	}

	/**
	 * Makes the attempts of one row. Resolves when it is settled, or pending because the run ends. Errors of the journal
	 * and faults of the program end the run.
	 */
	async settle(item: Item): Promise<void> {
		const { shutdown } = this.#options;
		try {
			await retry(this.#attempt, this.#retryOptions, { item, memory: {}, ...noAttempts() });
		} catch (error) {
			if (!shutdown.isReason(error)) shutdown.fail(error);
		}
	}

	/** One attempt, with the record of its success. */
	readonly #attempt = async ({ item, memory, attempt }: OpenRow<Item>): Promise<void> => {
		const { operation, journal, onSettled } = this.#options;
		let settled: Settled;
		try {
			settled = await operation(item, this.#request, memory);
		} catch (error) {
			const { shutdown } = this.#options;
			// A request that was cut off says nothing about its row.
			if (shutdown.abandoned) shutdown.signal.throwIfAborted();
			throw error;
		}
		this.#refused.succeeded();
		this.#repeated.succeeded();
		await journal.record({ ...settled, item, name: memory.name, attempts: attempt });
		onSettled?.();
	};

	/** The row waits without a place in flight, and that costs it no attempt. */
	#later({ wait }: RetryLater, row: OpenRow<Item>): Decision {
		row.attempt -= 1;
		if (this.#options.clock.now() + wait >= this.#deadline) return { action: "leave", everyone: false };
		return { action: "retry", wait, everyone: false, counts: false };
	}

	#decide(error: RestError, row: OpenRow<Item>): Decision {
		const { attempt, counted, notTheApi } = row;
		const decision = decide(error, { attempt, counted, notTheApi, ...this.#conditions(row, error) });
		const { monitor, queue, attempts: allowed } = this.#options;
		if (decision.action === "retry" && !queue.outage.answered) {
			monitor.tryingAgain(error, { next: attempt + 1, allowed, wait: decision.wait });
		}
		const repeated = this.#repeated.attemptFailed(error);
		const isStopping = decision.action === "stop" || decision.action === "leave";
		if (repeated !== undefined && !isStopping) this.#options.shutdown.end(repeated);
		return decision;
	}

	/** Ends the run, fails the row, or leaves it pending. */
	async #giveUp(error: Error, decision: LastDecision, row: OpenRow<Item>): Promise<void> {
		const { shutdown, maxDuration } = this.#options;
		if (decision.action === "stop") return shutdown.end(decision.stop);
		if (decision.action === "leave") {
			this.leftBehind = timeIsUp(maxDuration);
			return decision.everyone ? shutdown.end(this.leftBehind) : undefined;
		}
		if (!(error instanceof RestError)) throw error;
		await this.#fail(row, { code: error.code, text: failureText(error, row) });
		const stop = this.#stopAfter(error);
		if (stop !== undefined) shutdown.end(stop);
	}

	/** The reason to end the run after a row that failed for good, if there is one. */
	#stopAfter(error: RestError): Stop | undefined {
		const { journal, maxErrors } = this.#options;
		return (
			this.#repeated.failed(error) ??
			(maxErrors === undefined ? this.#refused.failed({ code: error.code, text: error.message }) : undefined) ??
			errorLimit(maxErrors, journal.totals())
		);
	}

	#conditions(row: OpenRow<Item>, error: RestError): Conditions {
		const { clock, queue, attempts, maxWait, patient } = this.#options;
		const { outage } = queue;
		const othersSucceed = row.successes !== undefined && outage.successes > row.successes;
		row.successes = outage.successes;
		return {
			allowed: attempts,
			idempotent: true,
			answered: outage.answered,
			succeeded: outage.succeeded,
			patient,
			outage: queue.wasLost(error),
			othersSucceed,
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
		const { name } = memory;
		await journal.record({ item, status: "failed", documentId, name, ...named, error, attempts: attempt, isUntouched });
		onSettled?.();
	}
}

function failureText(error: RestError, { attempt }: Attempts): string {
	return attempt > 1 ? `${error.message} (after ${attempt} tries)` : error.message;
}
