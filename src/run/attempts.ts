import { RestError } from "../rest/errors.ts";
import type { Shutdown } from "./stop/shutdown.ts";
import { errorLimit, type MaxErrors, RepeatedFailures } from "./stop/limits.ts";
import { type EndOfRow, mayHaveArrived, type OpenWork, type Operation, type Settled } from "./operations/operation.ts";
import {
	type Attempts,
	type Conditions,
	countFailure,
	decide,
	type Decision,
	MOST_REFUSALS,
	NO_ATTEMPTS,
} from "./retry/policy.ts";
import { RetryLater } from "./retry/retry.ts";
import { timeIsUp } from "./stop/reasons.ts";
import { MAX_WAIT } from "./rate/cooldown.ts";
import type { SendingOptions, SendQueue } from "./rate/send-queue.ts";
import type { Service } from "./service/service.ts";
import type { Journal, Outcome, Request, RowError, Stop, Work } from "./types.ts";

/** What a run says of its rows, and what their attempts need of that. */
export type RowsOptions<Item extends Work> = SendingOptions & {
	readonly operation: Operation<Item>;
	/** its flavour is known before an attempt begins, and detected again where an answer does not fit it */
	readonly service: Pick<Service, "known" | "redetect">;
	/** called for a row that the service refuses before any row has succeeded; what it throws ends the run */
	readonly explain?: (error: RestError, datasetId: string) => Promise<void>;
	readonly journal: Journal<Item>;
	/** attempts of one row, the first included; an outage or a request to slow down costs none */
	readonly attempts: number;
	readonly maxErrors?: MaxErrors | undefined;
	/** milliseconds after which no further row starts */
	readonly maxDuration?: number | undefined;
	/** when it began, on the clock; now unless given */
	readonly started?: number | undefined;
};

type AttemptsOptions<Item extends Work> = RowsOptions<Item> & {
	readonly shutdown: Shutdown;
	readonly queue: SendQueue;
};

/** The most times that one attempt is begun again in another dialect. */
const CHANGES = 3;

/** A row that is not settled, and its attempts so far. */
export type OpenRow<Item extends Work> = Attempts &
	OpenWork<Item> & {
		/** requests of the run that had succeeded when its last attempt failed */
		successes: number | undefined;
	};

/** What follows an attempt: another one after so many milliseconds, or none. */
export type NextStep = number | "settled" | "pending";

/** A row before its first attempt. */
export function openRow<Item extends Work>(item: Item): OpenRow<Item> {
	// The spread is last: V8 of Node 20 takes 0.7 µs for each member that follows one.
	return { item, memory: {}, successes: undefined, ...NO_ATTEMPTS };
}

/** The attempts of a run's rows. Each row ends with a record of the journal, or stays pending. */
export class RowAttempts<Item extends Work> {
	readonly #options: AttemptsOptions<Item>;
	/** when no further row starts, on the clock, and why */
	readonly deadline: number;
	readonly timeIsUp: Stop;
	readonly #repeated: RepeatedFailures;
	readonly #request: Request;
	/** why rows stay pending although nothing ended the run */
	leftBehind: Stop | undefined;

	constructor(options: AttemptsOptions<Item>) {
		this.#options = options;
		const { operation, maxErrors } = options;
		// With --max-errors the user says how many rows may be refused.
		this.#repeated = new RepeatedFailures((code) => maxErrors === undefined && operation.expected?.has(code) !== true);
		const { rates, queue, shutdown, maxDuration = Number.POSITIVE_INFINITY, started = rates.clock.now() } = options;
		this.deadline = started + maxDuration;
		this.timeIsUp = timeIsUp(maxDuration);
		this.#request = Object.assign(queue.sender(shutdown.signal), { finishing: queue.sender(shutdown.cut) });
	}

	/** Begins an attempt of all rows of a group. @returns undefined where a row is by itself */
	begin(rows: readonly OpenRow<Item>[]): EndOfRow<Item> | undefined {
		const [first] = rows;
		const group = first && this.#options.operation.groupOf?.(first);
		let begun: EndOfRow<Item> | undefined;
		// It begins with the first of its rows, once the flavour is known.
		return group && ((row) => (begun ??= group.begin(rows, this.#request))(row));
	}

	/**
	 * Makes the attempt of a row, and records its outcome. Errors of the journal and faults of the program end the run.
	 *
	 * @returns "pending" where the run ends before the row is settled
	 */
	async attempt(row: OpenRow<Item>, end: EndOfRow<Item> | undefined): Promise<NextStep> {
		if (this.#options.shutdown.signal.aborted) return "pending";
		row.attempt += 1;
		try {
			const settled = await this.#inDialect(row, end);
			this.#repeated.succeeded();
			const { item, memory, attempt: attempts } = row;
			return await this.#record({ item, name: memory.name, attempts, ...settled });
		} catch (error) {
			return await this.#failed(error, row);
		}
	}

	/**
	 * Does the operation in the known dialect, and again where an answer shows another dialect. That costs the row no attempt.
	 * The row's memory has the steps that were done, so no step is repeated that must not be. A flavour that the user gave is
	 * not detected again: the answer of a list or an upload may be about its row alone.
	 */
	async #inDialect(row: OpenRow<Item>, end: EndOfRow<Item> | undefined): Promise<Settled> {
		const { operation, service } = this.#options;
		const { item, memory } = row;
		for (let changes = 0; ; changes += 1) {
			const api = await service.known(this.#request);
			try {
				if (end !== undefined && changes === 0) return await end(row);
				return await operation(item, this.#request, memory);
			} catch (error) {
				if (!(error instanceof RestError) || error.kind !== "contradiction" || changes >= CHANGES) throw error;
				if (!(await service.redetect(api, this.#request, error))) throw error;
			}
		}
	}

	async #failed(error: unknown, row: OpenRow<Item>): Promise<number | "settled" | "pending"> {
		const { shutdown, queue } = this.#options;
		try {
			// A request that was cut off says nothing about its row.
			if (shutdown.abandoned) shutdown.signal.throwIfAborted();
			if (error instanceof RetryLater) return this.#later(error, row);
			if (!(error instanceof RestError)) throw error;
			const decision = this.#decide(error, row);
			countFailure(row, error, decision);
			if (decision.action !== "retry") return await this.#giveUp(error, decision, row);
			if (decision.everyone) queue.pause(decision.wait);
			return decision.wait;
		} catch (fault) {
			if (!shutdown.isReason(fault)) shutdown.fail(fault);
			return "pending";
		}
	}

	/** The row waits without a place in flight, and that costs it no attempt. */
	#later({ wait }: RetryLater, row: OpenRow<Item>): number | "pending" {
		row.attempt -= 1;
		if (this.#options.rates.clock.now() + wait < this.deadline) return wait;
		this.leftBehind = this.timeIsUp;
		return "pending";
	}

	#decide(error: RestError, row: OpenRow<Item>): Decision {
		const { attempt, counted, notTheApi, refused } = row;
		const decision = decide(error, { attempt, counted, notTheApi, refused, ...this.#conditions(row, error) });
		const { rates, queue, attempts: allowed } = this.#options;
		if (decision.action === "retry" && !queue.outage.answered) {
			rates.monitor.tryingAgain(error, { next: attempt + 1, allowed, wait: decision.wait });
		}
		const repeated = this.#repeated.attemptFailed(error);
		const isStopping = decision.action === "stop" || decision.action === "leave";
		if (repeated !== undefined && !isStopping) this.#options.shutdown.end(repeated);
		return decision;
	}

	/** Ends the run, fails the row, or leaves it pending. */
	async #giveUp(
		error: RestError,
		decision: Exclude<Decision, { readonly action: "retry" }>,
		row: OpenRow<Item>,
	): Promise<"settled" | "pending"> {
		const { shutdown, journal, maxErrors } = this.#options;
		if (decision.action === "stop") {
			shutdown.end(decision.stop);
			return "pending";
		}
		if (decision.action === "leave") {
			this.leftBehind = this.timeIsUp;
			if (decision.everyone) shutdown.end(this.leftBehind);
			return "pending";
		}
		if (!this.#repeated.hasSucceeded) await this.#options.explain?.(error, row.item.datasetId);
		const next = await this.#fail(row, { code: error.code, text: failureText(error, row) });
		// After the last row there is nothing to stop.
		const totals = journal.totals();
		if (totals.pending === 0) return next;
		const stop = this.#repeated.failed(error) ?? errorLimit(maxErrors, totals, journal.superseded);
		if (stop !== undefined) shutdown.end(stop);
		return next;
	}

	#conditions(row: OpenRow<Item>, error: RestError): Conditions {
		const { rates, queue, attempts, maxWait = MAX_WAIT, maxOutage } = this.#options;
		const { outage } = queue;
		const othersSucceed = row.successes !== undefined && outage.successes > row.successes;
		row.successes = outage.successes;
		return {
			allowed: attempts,
			idempotent: true,
			answered: outage.answered,
			succeeded: outage.successes > 0,
			patient: maxOutage !== undefined,
			othersSucceed,
			outageLeft: outage.left,
			timeLeft: this.deadline - rates.clock.now(),
			maxWait,
			random: rates.clock.random(),
			now: Date.now(),
			...queue.causeOf(error),
		};
	}

	#fail(row: OpenRow<Item>, error: RowError): Promise<"settled" | "pending"> {
		const { item, memory, attempt: attempts } = row;
		const { name, stored } = memory;
		const documentId = stored?.id ?? item.documentId;
		const isUntouched = !mayHaveArrived(memory);
		const storedName = stored?.name;
		return this.#record({ item, status: "failed", documentId, name, storedName, error, attempts, isUntouched });
	}

	/** Where the journal fails, the run ends, and the row is in doubt. */
	async #record(outcome: Outcome<Item>): Promise<"settled" | "pending"> {
		try {
			await this.#options.journal.record(outcome);
			return "settled";
		} catch (fault) {
			this.#options.shutdown.fail(fault);
			return "pending";
		}
	}
}

function failureText(error: RestError, { attempt, refused }: Attempts): string {
	if (refused + 1 >= MOST_REFUSALS)
		return `${error.message} (refused as too fast ${MOST_REFUSALS} times, while other rows succeeded)`;
	return attempt > 1 ? `${error.message} (after ${attempt} tries)` : error.message;
}
