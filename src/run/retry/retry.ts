import { RestError } from "../../rest/errors.ts";
import type { Clock } from "../types.ts";
import type { Attempts, Decision } from "./policy.ts";

/** A decision after which no further attempt follows. */
export type LastDecision = Exclude<Decision, { readonly action: "retry" }>;

/** @template Failure the errors that another attempt may help against; all others are thrown at once */
export type RetryOptions<Result, Failure extends Error> = {
	readonly clock: Clock;
	/** ends a wait; then its reason is thrown */
	readonly signal?: AbortSignal | undefined;
	readonly isFailure: (error: unknown) => error is Failure;
	readonly decide: (failure: Failure, attempts: Attempts) => Decision;
	/** lets every request wait for so many milliseconds, as the service asked for it */
	readonly pause?: (milliseconds: number) => void;
	/** what comes of a failure that no attempt follows: a result, or an error that it throws; unless given, the failure */
	readonly giveUp?: (failure: Failure, decision: LastDecision, attempts: Attempts) => Result | Promise<Result>;
	/** holds a place in flight for an attempt and its record; a wait between attempts holds none */
	readonly inFlight?: <Value>(attempt: () => Promise<Value>) => Promise<Value>;
};

/**
 * Ends an attempt of a row whose outcome is not known yet: what was sent may still be on its way. The row did not fail, and
 * the attempt does not count.
 */
export class RetryLater extends Error {
	/** before the next attempt, in milliseconds */
	readonly wait: number;

	constructor(wait: number) {
		super(`to be attempted again in ${wait} ms`);
		this.wait = wait;
	}
}

/** The one retry: it makes attempts, and carries out what a policy decides after each that failed. */
export async function retry<Result, Failure extends Error = RestError>(
	attempt: (attempts: Attempts) => Promise<Result>,
	options: RetryOptions<Result, Failure>,
): Promise<Result> {
	const { clock, signal, inFlight = (work) => work() } = options;
	const attempts: Attempts = { attempt: 0, counted: 0, notTheApi: 0 };
	for (;;) {
		const next = await inFlight(() => attemptOnce(attempt, attempts, options));
		if ("result" in next) return next.result;
		await clock.sleep(next.wait, signal);
		signal?.throwIfAborted();
	}
}

/** Resolves with the result, or with the wait before the next attempt in milliseconds. */
async function attemptOnce<Result, Failure extends Error>(
	attempt: (attempts: Attempts) => Promise<Result>,
	attempts: Attempts,
	{ signal, isFailure, decide, pause, giveUp }: RetryOptions<Result, Failure>,
): Promise<{ readonly result: Result } | { readonly wait: number }> {
	signal?.throwIfAborted();
	attempts.attempt += 1;
	try {
		return { result: await attempt(attempts) };
	} catch (error) {
		if (!isFailure(error)) throw error;
		const decision = decide(error, attempts);
		if (error instanceof RestError && error.kind === "not_the_api") attempts.notTheApi += 1;
		if (decision.action !== "retry") {
			if (giveUp === undefined) throw error;
			return { result: await giveUp(error, decision, attempts) };
		}
		if (decision.counts) attempts.counted += 1;
		if (decision.everyone) pause?.(decision.wait);
		return { wait: decision.wait };
	}
}

/** Waits before each read-back of a write, in milliseconds: a list may show a write later than it was applied. */
export const READ_BACK_DELAYS_MS: readonly number[] = [0, 250, 1_000, 2_000];

/** How long a list may show what was there before a write, in milliseconds: the sum of these waits. */
export const LONGEST_READ_BACK_MS = READ_BACK_DELAYS_MS.reduce((sum, delay) => sum + delay, 0);

export type ReadBackOptions = {
	readonly clock: Clock;
	/** the wait before each read, in milliseconds */
	readonly delays?: readonly number[];
	/** ends a wait */
	readonly signal?: AbortSignal;
};

/** Reads until something shows, once after each delay. Resolves with whether it did. */
export async function readBack(
	isShown: () => Promise<boolean>,
	{ clock, delays = READ_BACK_DELAYS_MS, signal }: ReadBackOptions,
): Promise<boolean> {
	for (const delay of delays) {
		await clock.sleep(delay, signal);
		if (await isShown()) return true;
	}
	return false;
}
