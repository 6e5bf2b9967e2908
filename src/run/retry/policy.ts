import { DATABASE_AWAY, type RestError } from "../../rest/errors.ts";
import { notTheApi, unreachable, untrusted, waitTooLong } from "../stop/reasons.ts";
import type { Stop } from "../types.ts";

/** Back-off after the first failed attempt, and its bound, in milliseconds. Full jitter below it. */
const BASE_MS = 250;
const LONGEST_MS = 30_000;

/** The same if the service asks to slow down without a Retry-After, and no other request succeeds. */
const THROTTLE_BASE_MS = 1_000;
const THROTTLE_LONGEST_MS = 60_000;

/** The same while others succeed: the controller lowers the rate for all, so a row only waits for its turn. */
const TURN_LONGEST_MS = 2_000;

/** Refusals for speed of one row, while others succeed, after which they are about this row. */
export const MOST_REFUSALS = 30;

/**
 * A Retry-After is never shortened. Up to this share is added, and at most this time, so that waiting rows do not all
 * return at once.
 */
const EXTRA_SHARE = 0.1;
const EXTRA_LONGEST_MS = 2_000;

/** Attempts of a row that were not answered by the API, in a run that the API has answered before. */
const NOT_THE_API_ATTEMPTS = 3;

/** Retries after a conflict, whose cause may end soon. The row waits no longer for it. */
const CONFLICTS = 2;

/** Codes that no retry can change: their cause is the behaviour of the service, not its present state. */
const DEFINITE: ReadonlySet<string> = new Set([
	"NOT_ARRIVED",
	"NOT_REMOVED",
	"NOT_STORED",
	"OTHER_FLAVOUR",
	"REMOVED_MORE",
	"UNKNOWN_FLAVOUR",
]);

/** The attempts of one row or one request so far. */
export type Attempts = {
	/** attempts, the failed one included */
	attempt: number;
	/** earlier attempts that count towards the allowed number: an outage and requests to slow down cost a row none */
	counted: number;
	/** earlier attempts that were not answered by the API */
	notTheApi: number;
	/** earlier attempts that were refused as they came too fast, while others succeeded */
	refused: number;
};

/** Before the first attempt. */
export const NO_ATTEMPTS: Readonly<Attempts> = { attempt: 0, counted: 0, notTheApi: 0, refused: 0 };

/** The facts on which the policy decides, besides the attempts. */
export type Conditions = {
	/** attempts allowed, the first included */
	readonly allowed: number;
	/** whether the same request may be applied twice without harm */
	readonly idempotent: boolean;
	/** whether the service has ever answered in this run, and whether with a success */
	readonly answered: boolean;
	readonly succeeded: boolean;
	/** whether a first answer is waited for longer than the allowed attempts */
	readonly patient: boolean;
	/** whether the request failed because of an outage: then it costs its row no attempt */
	readonly outage: boolean;
	/** whether the request was refused as it came too fast */
	readonly tooFast: boolean;
	/** whether other requests succeeded since this row failed last: then the failure concerns the row, too */
	readonly othersSucceed: boolean;
	/** milliseconds until an outage has lasted too long, and until the run's time is up; may be infinite */
	readonly outageLeft: number;
	readonly timeLeft: number;
	/** the longest Retry-After that is waited for, in milliseconds */
	readonly maxWait: number;
	/** from 0 up to but not including 1 */
	readonly random: number;
	/** wall clock, in epoch milliseconds: only for messages */
	readonly now: number;
};

/** A failed attempt, as the policy sees it. */
type FailedAttempt = Readonly<Attempts> & Conditions;

export type Decision =
	/** `everyone`: the service asked for the wait, so all rows wait. `counts`: as an attempt of the row, or as a refusal of it */
	| { readonly action: "retry"; readonly wait: number; readonly everyone: boolean; readonly counts: Counts }
	| { readonly action: "fail" }
	/** the run's time is up before the next attempt: the row stays pending; other rows go on unless `everyone` */
	| { readonly action: "leave"; readonly everyone: boolean }
	| { readonly action: "stop"; readonly stop: Stop };

/** Towards which of its numbers a failed attempt counts. */
type Counts = "attempt" | "refusal" | "nothing";

const fail: Decision = { action: "fail" };

/** Decides what follows a failed attempt. Pure: `rest` has classified the answer. */
export function decide(error: RestError, state: FailedAttempt): Decision {
	switch (error.kind) {
		case "rejected":
			return error.code === "HTTP_409" && state.attempt <= CONFLICTS ? again(state, "nothing") : fail;
		case "contradiction":
			return fail;
		case "doubted":
			// A 401 may follow a write that was applied: an error after the write can cause it.
			return state.idempotent ? byItself(state) : { action: "stop", stop: untrusted(error) };
		case "untrusted":
			return { action: "stop", stop: untrusted(error) };
		case "not_the_api":
			if (state.succeeded && !DEFINITE.has(error.code) && state.notTheApi + 1 < NOT_THE_API_ATTEMPTS)
				return again(state, "nothing");
			return { action: "stop", stop: notTheApi(error) };
		case "throttled":
			return throttled(error, state);
		case "not_sent":
			return neverReached(state) ? { action: "stop", stop: unreachable(error) } : again(state, "nothing");
		case "ambiguous":
			// A request that may have been applied is repeated only if a second time has no further effect.
			if (!state.idempotent) return fail;
			if (neverReached(state)) return { action: "stop", stop: unreachable(error) };
			if (!state.answered || state.outage) return again(state, "nothing");
			if (state.tooFast) return nextTurn(state);
			if (error.code === DATABASE_AWAY) return byItself(state);
			return state.counted + 1 < state.allowed ? again(state, "attempt") : fail;
	}
}

/** A failure that affects all requests costs a row no attempt. `Outage` decides how long it may last. */
function byItself(state: FailedAttempt): Decision {
	if (!state.othersSucceed || state.outage) return again(state, "nothing");
	return state.counted + 1 < state.allowed ? again(state, "attempt") : fail;
}

function neverReached({ answered, patient, attempt, allowed }: FailedAttempt): boolean {
	return !answered && !patient && attempt >= allowed;
}

function throttled(error: RestError, state: FailedAttempt): Decision {
	const { retryAfter } = error;
	if (retryAfter !== undefined && retryAfter > state.maxWait) {
		return { action: "stop", stop: waitTooLong(retryAfter, state.maxWait, state.now) };
	}
	if (state.othersSucceed && (retryAfter === undefined || isRefusedTooOften(state))) return nextTurn(state);
	const extra = state.random * Math.min(EXTRA_LONGEST_MS, EXTRA_SHARE * (retryAfter ?? 0));
	const wait = retryAfter === undefined ? backOff(THROTTLE_BASE_MS, THROTTLE_LONGEST_MS, state) : retryAfter + extra;
	if (wait > state.timeLeft) return { action: "leave", everyone: true };
	return {
		action: "retry",
		wait,
		everyone: retryAfter !== undefined,
		counts: state.othersSucceed ? "refusal" : "nothing",
	};
}

/** The row waits its turn again. It fails where only it is refused. */
function nextTurn(state: FailedAttempt): Decision {
	if (isRefusedTooOften(state)) return fail;
	return retry(backOff(BASE_MS, TURN_LONGEST_MS, state), state.othersSucceed ? "refusal" : "nothing", state);
}

/** Counts a failed attempt, as its decision says. */
export function countFailure(attempts: Attempts, error: RestError, decision: Decision): void {
	if (error.kind === "not_the_api") attempts.notTheApi += 1;
	if (decision.action !== "retry") return;
	if (decision.counts === "attempt") attempts.counted += 1;
	if (decision.counts === "refusal") attempts.refused += 1;
}

function isRefusedTooOften({ refused, othersSucceed }: FailedAttempt): boolean {
	return othersSucceed && refused + 1 >= MOST_REFUSALS;
}

function again(state: FailedAttempt, counts: Counts): Decision {
	// In an outage the breaker waits. Before it opens, the last attempt comes when the outage has lasted as long as it may.
	const wait = state.outage ? 0 : Math.min(backOff(BASE_MS, LONGEST_MS, state), Math.max(0, state.outageLeft));
	return retry(wait, counts, state);
}

function retry(wait: number, counts: Counts, { timeLeft }: FailedAttempt): Decision {
	return wait > timeLeft ? { action: "leave", everyone: false } : { action: "retry", wait, everyone: false, counts };
}

function backOff(base: number, longest: number, { attempt, random }: FailedAttempt): number {
	return random * Math.min(longest, base * 2 ** (attempt - 1));
}
