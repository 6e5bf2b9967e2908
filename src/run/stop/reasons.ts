import { Exit } from "../../errors.ts";
import type { RestError } from "../../rest/errors.ts";
import type { Stop } from "../types.ts";

const AGAIN = "Check --base-url and that the service is up, then run the same command again.";

/** Milliseconds as `--max-wait` takes them: `500ms`, `2s`, `15m0s`, `1h0m0s`. */
export function durationText(milliseconds: number): string {
	if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
	const seconds = Math.round(milliseconds / 1000);
	const minutes = Math.floor(seconds / 60);
	if (minutes === 0) return `${seconds}s`;
	const rest = `${minutes % 60}m${seconds % 60}s`;
	return minutes < 60 ? rest : `${Math.floor(minutes / 60)}h${rest}`;
}

/** The service was never reached, and no attempt is left. */
export function unreachable(error: RestError): Stop {
	return { exit: Exit.temporary, text: error.message, hint: AGAIN };
}

/** @param length how long the service has been gone, in milliseconds */
export function outage(error: RestError, length: number): Stop {
	const what = error.kind === "not_sent" ? "cannot connect to the service" : "no good answer from the service";
	return {
		exit: Exit.temporary,
		text: `${what} for ${durationText(length)} (${error.message})`,
		hint: `${AGAIN} --max-outage TIME waits longer.`,
	};
}

/** @param length how long the service has only asked to slow down, in milliseconds */
export function onlyThrottled(error: RestError, length: number): Stop {
	return {
		exit: Exit.temporary,
		text: `the service has only asked to slow down for ${durationText(length)} (${error.message})`,
		hint: "Run the same command again later, with a lower --rate.",
	};
}

/** @param now wall clock, in epoch milliseconds: the message names a time of day */
export function waitTooLong(retryAfter: number, maxWait: number, now: number): Stop {
	const until = `${new Date(now + retryAfter).toISOString().slice(0, 19)}Z`;
	return {
		exit: Exit.temporary,
		text: `the service asks to wait ${durationText(retryAfter)}, until ${until}; longer than --max-wait ${durationText(maxWait)}`,
		hint: "Run the same command again after that time.",
	};
}

export function timeIsUp(maxDuration: number): Stop {
	return {
		exit: Exit.limit,
		text: `stopped by --max-duration ${durationText(maxDuration)}`,
		hint: "More time, or none: --max-duration.",
	};
}

/** @param length how long a key was refused that was accepted before, in milliseconds */
export function noLongerAccepted(error: RestError, length: number): Stop {
	const { exit, text, hint } = untrusted(error);
	const away = "A RAGFlow server says the same for as long as its database is away.";
	return {
		exit,
		text: `${text} any more: it was before, and was tried again for ${durationText(length)}`,
		hint: `${hint} ${away}`,
	};
}

export function untrusted(error: RestError): Stop {
	return { exit: Exit.untrusted, text: error.message, hint: untrustedHint(error.code) };
}

export function notTheApi(error: RestError): Stop {
	return { exit: Exit.temporary, text: error.message, hint: STRANGER_HINTS.get(error.code) ?? "Check --base-url." };
}

/** What to do about an answer that contradicts what the service did. */
const STRANGER_HINTS: ReadonlyMap<string, string> = new Map([
	["REMOVED_MORE", "Do not run it again: look with ragtag docs list, and tell whoever runs the proxy or the service."],
	["NOT_REMOVED", "Look with ragtag docs list, and tell whoever runs the service."],
	["NOT_STORED", "Look with ragtag docs list, and tell whoever runs the service."],
	["NOT_ARRIVED", "ragtag doctor says what the service is taken for; --flavour and --body say otherwise."],
	["OTHER_FLAVOUR", "Leave --flavour (or flavour in the profile) out: it is found out."],
	["UNKNOWN_FLAVOUR", "ragtag doctor says more; --flavour says what it is, if you know."],
]);

function untrustedHint(code: string): string {
	if (code === "REDIRECT") return "Set --base-url to the final address.";
	if (code === "TLS_UNTRUSTED") return "If the certificate is right, name its authority with --ca-file.";
	if (code === "KEY_REJECTED")
		return "Check the key in RAGTAG_API_KEY or --api-key-file, and that it belongs to this address.";
	return "Check --base-url and the proxy settings.";
}
