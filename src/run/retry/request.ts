import { CliError, Exit } from "../../errors.ts";
import { RestError } from "../../rest/errors.ts";
import { type Cooldown, MAX_WAIT, type Send } from "../rate/cooldown.ts";
import { decide } from "./policy.ts";
import { untrusted } from "../stop/reasons.ts";
import type { Clock, Stop } from "../types.ts";

/** Attempts of one request of a command that runs no rows, and how long they may take together, in milliseconds. */
const ATTEMPTS = 6;
const WITHIN = 30_000;

export type RequestDependencies = {
	readonly send: Send;
	readonly cooldown: Cooldown;
	readonly clock: Clock;
	readonly signal?: AbortSignal;
};

/**
 * One request of a command that runs no rows, retried where that may help.
 *
 * @throws CliError 4 for what is not trusted, 6 when the service could not be reached, 1 when it refused
 */
export async function requestWithRetry<Answer>(
	request: () => Promise<Answer>,
	{ send, cooldown, clock, signal }: RequestDependencies,
	{ idempotent = true }: { idempotent?: boolean } = {},
): Promise<Answer> {
	let deadline: number | undefined;
	const begin = (): Promise<Answer> => {
		// From the first attempt on: the waits of earlier requests do not count.
		deadline ??= clock.now() + WITHIN;
		return request();
	};
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await send(begin, signal);
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
			const decision = decide(error, {
				attempt,
				counted: attempt - 1,
				strangers: 0,
				attempts: ATTEMPTS,
				idempotent,
				// Each request is judged by itself, as if the service had never answered.
				answered: false,
				succeeded: false,
				patient: false,
				outage: false,
				othersSucceed: false,
				outageLeft: Number.POSITIVE_INFINITY,
				timeLeft: (deadline ?? Number.POSITIVE_INFINITY) - clock.now(),
				maxWait: MAX_WAIT,
				random: clock.random(),
				now: Date.now(),
			});
			if (decision.action === "stop") throw stopped(error, decision.stop);
			if (decision.action !== "retry" || attempt >= ATTEMPTS) throw refusal(error);
			if (decision.everyone) cooldown.extend(decision.wait);
			await clock.sleep(decision.wait, signal);
			signal?.throwIfAborted();
		}
	}
}

function stopped(error: RestError, stop: Stop): CliError {
	return new CliError(stop.text, { ...stop, cause: error });
}

function refusal(error: RestError): CliError {
	if (error.kind === "rejected" || error.kind === "contradiction") {
		return new CliError(error.message, { exit: Exit.failedRows, hint: hintOf(error), cause: error });
	}
	if (error.kind === "doubted") return stopped(error, untrusted(error));
	const hint = "Check that the service is up, then run the same command again.";
	return new CliError(error.message, { exit: Exit.temporary, hint, cause: error });
}

/** What to check after a refusal. Of a wrong id a service says that it does not exist, or that another user owns it. */
function hintOf({ code, status, message }: RestError): string {
	if (code === "NOT_FOUND" && status === 404)
		return "Check the ids (ragtag datasets list) and the address (ragtag doctor).";
	// A command that needs no flavour gets a bare code 102; RAGFlow's words for a dataset that is not there are these.
	if (code === "NOT_FOUND" || code === "FORBIDDEN" || /\bown the dataset\b/i.test(message)) {
		return "Check the dataset's id: ragtag datasets list shows those that this key may use.";
	}
	return "Check the ids (ragtag datasets list) and the service (ragtag doctor).";
}

/** The `RestError` that ended a command, or undefined where another error did. */
export function failureBehind(error: unknown): RestError | undefined {
	return error instanceof CliError && error.cause instanceof RestError ? error.cause : undefined;
}

/** Whether a failed request may have been applied: its answer was lost. */
export function mayHaveBeenApplied(error: unknown): boolean {
	return failureBehind(error)?.kind === "ambiguous";
}
