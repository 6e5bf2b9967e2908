import { RestError } from "../../rest/errors.ts";
import type { Clock } from "../types.ts";
import type { Attempts, Decision } from "./policy.ts";

/** A decision after which no further attempt follows. */
export type LastDecision = Exclude<Decision, { readonly action: "retry" }>;

/**
 * One object for all work with the same retry policy. Another attempt may help against a `RestError` alone.
 *
 * @template State what the attempts of one piece of work share
 */
export type RetryOptions<Result, State extends Attempts = Attempts> = {
	readonly decide: (error: RestError, state: State) => Decision;
	/** lets every request wait for so many milliseconds, as the service asked for it */
	readonly pause: (milliseconds: number) => void;
	/** gives the result of a final failure, or throws an error */
	readonly giveUp: (error: RestError, decision: LastDecision, state: State) => Result | Promise<Result>;
};

/**
 * Ends an attempt of a row whose outcome is not known yet, as its request may still be processed. The row did not fail,
 * and the attempt does not count.
 */
export class RetryLater extends Error {
	/** before the next attempt, in milliseconds */
	readonly wait: number;

	constructor(wait: number) {
		super(`to be attempted again in ${wait} ms`);
		this.wait = wait;
	}
}

/**
 * Ends an attempt of a row whose write is confirmed together with those of other rows. The row did not fail, and the attempt
 * does not count. The next one comes when no other row can be sent before such rows are settled.
 */
export class RetryTogether extends Error {
	constructor() {
		super("to be attempted again together with other rows");
	}
}

/** The wait before the next attempt, if an attempt has no result. */
export class Wait {
	readonly milliseconds: number;

	constructor(milliseconds: number) {
		this.milliseconds = milliseconds;
	}
}

/** Makes attempts until one has a result. @param signal ends a wait; then its reason is thrown */
export async function retry<Result>(
	attempt: () => Promise<Result>,
	options: RetryOptions<Result>,
	{ clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<Result> {
	const state: Attempts = { attempt: 0, counted: 0, notTheApi: 0, refused: 0 };
	for (;;) {
		signal?.throwIfAborted();
		state.attempt += 1;
		try {
			return await attempt();
		} catch (error) {
			const next = await afterFailure(error, options, state);
			if (!(next instanceof Wait)) return next;
			await clock.sleep(next.milliseconds, signal);
		}
	}
}

/**
 * Carries out the policy's decision after a failed attempt.
 *
 * @returns the wait before the next attempt, or the result of giving up
 * @throws the error where no other attempt helps
 */
export function afterFailure<Result, State extends Attempts>(
	error: unknown,
	{ decide, pause, giveUp }: RetryOptions<Result, State>,
	state: State,
): Result | Promise<Result> | Wait {
	if (!(error instanceof RestError)) throw error;
	const decision = decide(error, state);
	if (error.kind === "not_the_api") state.notTheApi += 1;
	if (decision.action !== "retry") return giveUp(error, decision, state);
	if (decision.counts === "attempt") state.counted += 1;
	if (decision.counts === "refusal") state.refused += 1;
	if (decision.everyone) pause(decision.wait);
	return new Wait(decision.wait);
}

/** Waits before each read-back of a write, in milliseconds: a list may show a write later than it was applied. */
export const READ_BACK_DELAYS_MS: readonly number[] = [0, 250, 1_000, 2_000];

/** The longest time for which a list may show the state before a write, in milliseconds: the sum of these waits. */
export const LONGEST_READ_BACK_MS = READ_BACK_DELAYS_MS.reduce((sum, delay) => sum + delay, 0);

type ReadBackOptions = {
	readonly clock: Clock;
	/** the wait before each read, in milliseconds */
	readonly delays?: readonly number[];
	/** ends a wait */
	readonly signal?: AbortSignal;
};

/** Reads until the change is visible, once after each delay. Resolves with whether it became visible. */
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
