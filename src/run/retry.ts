import { Exit } from "../errors.ts";
import type { RestError } from "../rest/errors.ts";
import type { Stop } from "./types.ts";

/** Back-off after the first failed try, and its bound, in milliseconds. Full jitter below it. */
const BASE = 250;
const LONGEST = 30_000;
/** The same where the service asks to slow down and does not say for how long. */
const THROTTLE_BASE = 1_000;
const THROTTLE_LONGEST = 60_000;
/** A Retry-After is never shortened; up to this much is added, so that a pool does not come back as one. */
const EXTRA_SHARE = 0.1;
const EXTRA_LONGEST = 2_000;
/** The longest Retry-After that is waited for, in milliseconds. */
const MAX_WAIT = 5 * 60_000;

export type Try = {
	/** tries so far, the failed one included */
	readonly attempt: number;
	/** tries allowed, the first included */
	readonly attempts: number;
	/** whether the same request may be applied twice without harm */
	readonly idempotent: boolean;
	/** whether the service has ever answered anything in this run */
	readonly answered: boolean;
	/** from 0 up to but not including 1 */
	readonly random: number;
};

export type Decision =
	/** `everyone`: the service asked, so the whole pool waits */
	| { readonly action: "retry"; readonly wait: number; readonly everyone: boolean }
	| { readonly action: "fail" }
	| { readonly action: "stop"; readonly stop: Stop };

const fail: Decision = { action: "fail" };

/** What to do about a request that did not succeed. The answer was classified by `rest`; this decides. */
export function decide(error: RestError, state: Try): Decision {
	const left = state.attempts - state.attempt;
	switch (error.kind) {
		case "rejected":
		case "contradiction":
			return fail;
		case "untrusted":
			return { action: "stop", stop: { exit: Exit.untrusted, text: error.message, hint: untrustedHint(error.code) } };
		case "not_the_api":
			return { action: "stop", stop: { exit: Exit.temporary, text: error.message, hint: "Check --base-url." } };
		case "throttled":
			if ((error.retryAfter ?? 0) > MAX_WAIT) return { action: "stop", stop: tooLong(error) };
			return left > 0 ? { action: "retry", wait: throttleWait(error, state), everyone: true } : fail;
		case "not_sent":
			if (left > 0) return { action: "retry", wait: backOff(BASE, LONGEST, state), everyone: false };
			return { action: "stop", stop: unreachable(error) };
		case "ambiguous":
			// A request that may have been applied is sent again only where twice is the same as once.
			if (!state.idempotent) return fail;
			if (left > 0) return { action: "retry", wait: backOff(BASE, LONGEST, state), everyone: false };
			return state.answered ? fail : { action: "stop", stop: unreachable(error) };
	}
}

function backOff(base: number, longest: number, { attempt, random }: Try): number {
	return random * Math.min(longest, base * 2 ** (attempt - 1));
}

function throttleWait(error: RestError, state: Try): number {
	if (error.retryAfter === undefined) return backOff(THROTTLE_BASE, THROTTLE_LONGEST, state);
	return error.retryAfter + state.random * Math.min(EXTRA_LONGEST, EXTRA_SHARE * error.retryAfter);
}

function unreachable(error: RestError): Stop {
	return {
		exit: Exit.temporary,
		text: error.message,
		hint: "Check --base-url and that the service is up, then run the same command again.",
	};
}

function tooLong(error: RestError): Stop {
	const seconds = Math.ceil((error.retryAfter ?? 0) / 1000);
	return {
		exit: Exit.temporary,
		text: `the service asks to wait ${seconds} s, longer than the ${MAX_WAIT / 1000} s that a run waits`,
		hint: "Run the same command again after that time.",
	};
}

function untrustedHint(code: string): string {
	if (code === "REDIRECT") return "Set --base-url to the final address.";
	if (code === "TLS_UNTRUSTED") return "If the certificate is right, name its authority with --ca-file.";
	if (code === "KEY_REJECTED")
		return "Check the key in RAGTAG_API_KEY or --api-key-file, and that it belongs to this address.";
	return "Check --base-url and the proxy settings.";
}
