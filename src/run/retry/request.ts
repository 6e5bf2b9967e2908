import { CliError, Exit } from "../../errors.ts";
import { PROXY_REFUSED, RestError } from "../../rest/errors.ts";
import { MAX_WAIT } from "../rate/cooldown.ts";
import { DOUBTED_FOR } from "../rate/outage.ts";
import type { RateControl } from "../rate/rate-control.ts";
import { untrusted } from "../stop/reasons.ts";
import type { Clock, Request, Stop } from "../types.ts";
import { type Attempts, countFailure, decide, NO_ATTEMPTS } from "./policy.ts";

/** Attempts of one request of a command that runs no rows, and how long they may take together, in milliseconds. */
const ATTEMPTS = 6;
const WITHIN_MS = 30_000;

type RetryOptions = {
	/** whether a second time has no further effect */
	readonly idempotent?: boolean;
	/** milliseconds for which the attempts begin anew while the service can't be reached */
	readonly maxOutage?: number | undefined;
	readonly signal?: AbortSignal;
};

/**
 * Sends one request of a command that runs no rows, and retries it if that may help.
 *
 * @throws CliError 4 if the service is not trusted, 6 if it could not be reached, 1 if it refused
 */
export async function requestWithRetry<Answer>(
	request: () => Promise<Answer>,
	rates: RateControl,
	{ idempotent = true, maxOutage = 0, signal }: RetryOptions = {},
): Promise<Answer> {
	const { unpaused: clock, monitor, cooldown } = rates;
	const started = clock.now();
	let deadline: number | undefined;
	const begin = (): Promise<Answer> => {
		// From the first attempt on: the waits of earlier requests do not count.
		deadline ??= clock.now() + WITHIN_MS;
		return request();
	};
	const attempts: Attempts = { ...NO_ATTEMPTS };
	for (;;) {
		signal?.throwIfAborted();
		attempts.attempt += 1;
		try {
			return await rates.send(begin, signal);
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			const decision = decide(error, {
				...attempts,
				allowed: ATTEMPTS,
				idempotent,
				// Each request is judged by itself, as if the service had never answered.
				answered: false,
				succeeded: false,
				patient: false,
				outage: false,
				tooFast: false,
				othersSucceed: false,
				outageLeft: Number.POSITIVE_INFINITY,
				timeLeft: (deadline ?? Number.POSITIVE_INFINITY) - clock.now(),
				maxWait: MAX_WAIT,
				random: clock.random(),
				now: Date.now(),
			});
			if (decision.action !== "retry" || attempts.attempt >= ATTEMPTS) {
				if (clock.now() - started >= longestOutage(error, maxOutage))
					throw decision.action === "stop" ? stopped(error, decision.stop) : refusal(error);
				// Each of the next attempts waits: no wait is added.
				Object.assign(attempts, NO_ATTEMPTS);
				deadline = undefined;
				continue;
			}
			const { wait, everyone } = decision;
			monitor.tryingAgain(error, { next: attempts.attempt + 1, allowed: ATTEMPTS, wait });
			countFailure(attempts, error, decision);
			if (everyone) cooldown.extend(wait);
			await clock.sleep(wait, signal);
		}
	}
}

/**
 * Checks the address after a 404, which may be about an id or about the whole path: the list of datasets says which. It is
 * read once at most.
 *
 * @param list reads that list, which every service of this API has
 */
export function checkingAddress(request: Request, list: () => Promise<unknown>): Request {
	let checked: Promise<CliError | undefined> | undefined;
	const wrongAddress = (error: unknown): CliError | undefined =>
		error instanceof CliError && restErrorOf(error)?.kind === "not_the_api" ? error : undefined;
	return (call) =>
		request(call).catch(async (error: unknown) => {
			const { code, status } = restErrorOf(error) ?? {};
			if (code !== "NOT_FOUND" || status !== 404) throw error;
			checked ??= request(list).then(() => undefined, wrongAddress);
			throw (await checked) ?? error;
		});
}

/** Waits before a page of a list is asked for again, in milliseconds: in all less than the end of a run may take. */
const PAGE_DELAYS_MS = [100, 400, 1_500];

/**
 * Repeats the request for a page of a list after a short failure. Only for requests that change nothing.
 *
 * A list of a thousand pages that started again after each failed page would never end. Longer failures are decided by
 * the row's policy, which knows outages and limits.
 */
export function retryingPages(request: Request, clock: Clock): Request {
	return async (call) => {
		for (const wait of PAGE_DELAYS_MS) {
			try {
				return await request(call);
			} catch (error) {
				if (!(error instanceof RestError) || !["ambiguous", "not_sent", "doubted"].includes(error.kind)) throw error;
			}
			await clock.sleep(wait);
		}
		return request(call);
	};
}

/** The longest duration of a failure, in milliseconds; 0 for one that does not pass. */
function longestOutage({ kind }: RestError, maxOutage: number): number {
	if (kind === "doubted") return Math.min(DOUBTED_FOR, maxOutage);
	return kind === "not_sent" || kind === "ambiguous" ? maxOutage : 0;
}

function stopped(error: RestError, stop: Stop): CliError {
	return new CliError(stop.text, { ...stop, cause: error });
}

function refusal(error: RestError): CliError {
	if (error.isRefusal) {
		return new CliError(error.message, { exit: Exit.failedRows, hint: hintOf(error), cause: error });
	}
	if (error.kind === "doubted") return stopped(error, untrusted(error));
	const hint = "Check that the service is up, then run the same command again.";
	return new CliError(error.message, { exit: Exit.temporary, hint, cause: error });
}

/** The advice after a refusal. A service answers to a wrong id that it does not exist, or that another user owns it. */
function hintOf({ code, status, message }: RestError): string {
	if (code === PROXY_REFUSED)
		return "Check the address (ragtag doctor), or ask who runs the proxy to let the request through.";
	if (code === "HTTP_413") return "Raise that limit, then run the same command again.";
	if (code === "NOT_FOUND" && status === 404)
		return "Check the ids (ragtag datasets list) and the address (ragtag doctor).";
	// A command that needs no flavour gets a bare code 102; RAGFlow's words for a dataset that is not there are these.
	if (code === "NOT_FOUND" || code === "FORBIDDEN" || /\bown the dataset\b/i.test(message)) {
		return "Check the dataset's id: ragtag datasets list shows those that this key may use.";
	}
	return "Check the ids (ragtag datasets list) and the service (ragtag doctor).";
}

/** The error of the service: the error itself, or the cause of an error that a request has made of it for the user. */
export function restErrorOf(error: unknown): RestError | undefined {
	if (error instanceof RestError) return error;
	return error instanceof Error && error.cause instanceof RestError ? error.cause : undefined;
}
