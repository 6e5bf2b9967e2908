import { Exit } from "../../errors.ts";
import type { RestError } from "../../rest/errors.ts";
import type { Stop } from "../types.ts";

const RETRY_HINT = "Check --base-url and that the service is up, then run the same command again.";

/** Milliseconds in the form that `--max-wait` takes: `500ms`, `2s`, `15m0s`, `1h0m0s`. */
export function durationText(milliseconds: number): string {
	if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
	const seconds = Math.round(milliseconds / 1000);
	const minutes = Math.floor(seconds / 60);
	if (minutes === 0) return `${seconds}s`;
	const rest = `${minutes % 60}m${seconds % 60}s`;
	return minutes < 60 ? rest : `${Math.floor(minutes / 60)}h${rest}`;
}

/** The cause may pass. */
function temporary(text: string, hint: string): Stop {
	return { exit: Exit.temporary, text, hint };
}

/** The service was never reached, and no attempt is left. */
export function unreachable(error: RestError): Stop {
	return temporary(error.message, RETRY_HINT);
}

/** @param length duration of the outage, in milliseconds */
export function outage(error: RestError, length: number): Stop {
	const what = error.kind === "not_sent" ? "cannot connect to the service" : "no good answer from the service";
	const text = `${what} for ${durationText(length)} (${error.message})`;
	return temporary(text, `${RETRY_HINT} --max-outage TIME waits longer.`);
}

/** @param length time in milliseconds in which the service has only asked to slow down */
export function onlyThrottled(error: RestError, length: number): Stop {
	const text = `the service has only asked to slow down for ${durationText(length)} (${error.message})`;
	return temporary(text, "Run the same command again later, with a lower --rate.");
}

/** @param now wall clock in epoch milliseconds, as the message gives a time of day */
export function waitTooLong(retryAfter: number, maxWait: number, now: number): Stop {
	const until = `${new Date(now + retryAfter).toISOString().slice(0, 19)}Z`;
	const text = `the service asks to wait ${durationText(retryAfter)}, until ${until}; longer than --max-wait ${durationText(maxWait)}`;
	return temporary(text, "Run the same command again after that time.");
}

export function timeIsUp(maxDuration: number): Stop {
	return {
		exit: Exit.limit,
		text: `stopped by --max-duration ${durationText(maxDuration)}`,
		hint: "Give more time with --max-duration, or leave it out.",
		isOutOfTime: true,
	};
}

/**
 * A key that was accepted before is refused.
 *
 * @param length time in milliseconds for which it has been refused
 */
export function noLongerAccepted(error: RestError, length: number): Stop {
	const { exit, text, hint } = untrusted(error);
	const away = "A RAGFlow server gives the same answer while its database is unavailable.";
	return {
		exit,
		text: `${text} any more: it was accepted before, and was tried again for ${durationText(length)}`,
		hint: `${hint} ${away}`,
	};
}

export function untrusted(error: RestError): Stop {
	return { exit: Exit.untrusted, text: error.message, hint: untrustedHint(error.code) };
}

export function notTheApi(error: RestError): Stop {
	return temporary(error.message, NOT_THE_API_HINTS.get(error.code) ?? WRONG_ADDRESS_HINT);
}

/** The advice if another program than the API answers. */
const WRONG_ADDRESS_HINT =
	"Check --base-url: it must end where /api/v1 begins, in most cases directly after the port. Leave out the web page's own path, such as /v1 or /knowledge.";

/** Hints for answers that contradict what the service did. */
const NOT_THE_API_HINTS: ReadonlyMap<string, string> = new Map([
	[
		"REMOVED_MORE",
		"Do not run it again: check with ragtag docs list, and inform the operator of the proxy or the service.",
	],
	["NOT_REMOVED", "Check with ragtag docs list, and inform the operator of the service."],
	["NOT_STORED", "Check with ragtag docs list, and inform the operator of the service."],
	["NOT_TLS", "Write the address with http://, or give the port that speaks TLS."],
	["NOT_ARRIVED", "ragtag doctor shows the detected flavour; --flavour and --body override it."],
	["OTHER_FLAVOUR", "Leave out --flavour (or flavour in the profile): the flavour is then detected."],
	["UNKNOWN_FLAVOUR", "ragtag doctor shows more. If you know the flavour, give it with --flavour."],
]);

/** The advice if the service, or this program, trusts the other side no further. */
export function untrustedHint(code: string): string {
	return UNTRUSTED_HINTS.get(code) ?? "Check --base-url and the proxy settings.";
}

const UNTRUSTED_HINTS: ReadonlyMap<string, string> = new Map([
	[
		"REDIRECT",
		"If the service has moved, run the same command again with its new address in --base-url. If not, wait until the redirect is gone.",
	],
	[
		"TLS_UNTRUSTED",
		"If the certificate is right, name the file of its authority with --ca-file; there is no switch to accept any.",
	],
	["TLS_EXPIRED", "Check this machine's clock; if it is right, those who run the service must renew the certificate."],
	["TLS_OTHER_HOST", "Give the host name that the certificate was issued for in --base-url."],
	["TLS_VERSION", "Those who run the service must allow TLS 1.2 or 1.3, and no certificate of the client."],
	["TLS_CLIENT", "Use an address of the service that asks for no certificate of the client."],
	["KEY_REJECTED", "Check the key in RAGTAG_API_KEY or --api-key-file, and that it belongs to this address."],
]);
