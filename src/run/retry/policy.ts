import { DATABASE_AWAY, type RestError } from "../../rest/errors.ts";
import { notTheApi, unreachable, untrusted, waitTooLong } from "../stop/reasons.ts";
import type { Stop } from "../types.ts";

/** Back-off after the first failed try, and its bound, in milliseconds. Full jitter below it. */
const BASE = 250;
const LONGEST = 30_000;
/** The same where the service asks to slow down and does not say for how long. */
const THROTTLE_BASE = 1_000;
const THROTTLE_LONGEST = 60_000;
/** A Retry-After is never shortened; up to this much is added, so that a pool does not come back as one. */
const EXTRA_SHARE = 0.1;
const EXTRA_LONGEST = 2_000;
/** Tries of a row that something else than the API answers, in a run that the API has answered before. */
const STRANGERS = 3;
/** Tries after a conflict: what is in the way may be gone, and is not waited for. */
const CONFLICTS = 2;
/** Answers that no later try makes better: they tell what the service does, not how it is. */
const DEFINITE: ReadonlySet<string> = new Set([
	"NOT_ARRIVED",
	"NOT_REMOVED",
	"NOT_STORED",
	"OTHER_FLAVOUR",
	"REMOVED_MORE",
	"UNKNOWN_FLAVOUR",
]);

export type Try = {
	/** tries so far, the failed one included */
	readonly attempt: number;
	/** those before this one that count towards `attempts`: an outage and requests to slow down cost a row none */
	readonly counted: number;
	/** those before this one that something else than the API answered */
	readonly strangers: number;
	/** tries allowed, the first included */
	readonly attempts: number;
	/** whether the same request may be applied twice without harm */
	readonly idempotent: boolean;
	/** whether the service has ever answered anything in this run, and ever with a success */
	readonly answered: boolean;
	readonly succeeded: boolean;
	/** whether a first answer is waited for longer than `attempts` tries */
	readonly patient: boolean;
	/** whether the request failed because the service is gone: then nothing is held against its row */
	readonly outage: boolean;
	/** whether other requests were answered well since this one failed last: then it is about the row, too */
	readonly othersSucceed: boolean;
	/** milliseconds until an outage has lasted too long, and until the run's time is up; may be infinite */
	readonly outageLeft: number;
	readonly timeLeft: number;
	/** the longest Retry-After that is waited for, in milliseconds */
	readonly maxWait: number;
	/** from 0 up to but not including 1 */
	readonly random: number;
	/** wall clock, in epoch milliseconds: for people alone */
	readonly now: number;
};

export type Decision =
	/** `everyone`: the service asked, so the whole pool waits. `counts`: towards the tries of the row */
	| { readonly action: "retry"; readonly wait: number; readonly everyone: boolean; readonly counts: boolean }
	| { readonly action: "fail" }
	/** the run's time is up before the next try: the row stays pending, and others may still go on if not `everyone` */
	| { readonly action: "leave"; readonly everyone: boolean }
	| { readonly action: "stop"; readonly stop: Stop };

const fail: Decision = { action: "fail" };

/** What to do about a request that did not succeed. The answer was classified by `rest`; this decides. */
export function decide(error: RestError, state: Try): Decision {
	switch (error.kind) {
		case "rejected":
			return error.code === "HTTP_409" && state.attempt <= CONFLICTS ? again(state, false) : fail;
		case "contradiction":
			return fail;
		case "doubted":
			// A 401 may come of what was thrown behind the write.
			return state.idempotent ? byItself(state) : { action: "stop", stop: untrusted(error) };
		case "untrusted":
			return { action: "stop", stop: untrusted(error) };
		case "not_the_api":
			if (state.succeeded && !DEFINITE.has(error.code) && state.strangers + 1 < STRANGERS) return again(state, false);
			return { action: "stop", stop: notTheApi(error) };
		case "throttled":
			return throttled(error, state);
		case "not_sent":
			return neverReached(state) ? { action: "stop", stop: unreachable(error) } : again(state, false);
		case "ambiguous":
			// A request that may have been applied is sent again only where twice is the same as once.
			if (!state.idempotent) return fail;
			if (neverReached(state)) return { action: "stop", stop: unreachable(error) };
			if (!state.answered || state.outage) return again(state, false);
			if (error.code === DATABASE_AWAY) return byItself(state);
			return state.counted + 1 < state.attempts ? again(state, true) : fail;
	}
}

/** What says of itself that nobody is better off costs a row no try; how long it may last is the outage's business. */
function byItself(state: Try): Decision {
	if (!state.othersSucceed || state.outage) return again(state, false);
	return state.counted + 1 < state.attempts ? again(state, true) : fail;
}

function neverReached({ answered, patient, attempt, attempts }: Try): boolean {
	return !answered && !patient && attempt >= attempts;
}

function throttled(error: RestError, state: Try): Decision {
	const { retryAfter } = error;
	if (retryAfter !== undefined && retryAfter > state.maxWait) {
		return { action: "stop", stop: waitTooLong(retryAfter, state.maxWait, state.now) };
	}
	const extra = state.random * Math.min(EXTRA_LONGEST, EXTRA_SHARE * (retryAfter ?? 0));
	const wait = retryAfter === undefined ? backOff(THROTTLE_BASE, THROTTLE_LONGEST, state) : retryAfter + extra;
	if (wait > state.timeLeft) return { action: "leave", everyone: true };
	return { action: "retry", wait, everyone: true, counts: false };
}

function again(state: Try, counts: boolean): Decision {
	// In an outage the breaker does the waiting; before it opens, the last try comes when waiting has lasted long enough.
	const wait = state.outage ? 0 : Math.min(backOff(BASE, LONGEST, state), Math.max(0, state.outageLeft));
	if (wait > state.timeLeft) return { action: "leave", everyone: false };
	return { action: "retry", wait, everyone: false, counts };
}

function backOff(base: number, longest: number, { attempt, random }: Try): number {
	return random * Math.min(longest, base * 2 ** (attempt - 1));
}
