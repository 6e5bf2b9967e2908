import { CliError, Exit, reason } from "../errors.ts";
import { stopOf } from "../run/stop/shutdown.ts";
import { journalCliError } from "../run/recorded/faults.ts";
import type { Stop } from "../run/types.ts";

/** Why a run broke off: an error for people, or a fault of the program. */
export function stopFromError(fault: unknown): Stop {
	const error = journalCliError(fault);
	if (error instanceof CliError) {
		return { exit: error.exit, text: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
	}
	return {
		exit: Exit.internal,
		text: `a fault of the program itself: ${reason(error)}`,
		hint: "Please report it; the rows that are pending may be sent again safely.",
	};
}

/** The same of requests that the user's signal ends: what they throw then is only that they were ended. */
export function stopOrSignal(fault: unknown, signal: AbortSignal): Stop {
	return signal.aborted ? stopOf(signal.reason) : stopFromError(fault);
}
