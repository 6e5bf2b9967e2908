import { CliError, Exit, reason } from "../errors.ts";
import { stopOf } from "../run/stop/shutdown.ts";
import type { Stop } from "../run/types.ts";

/** The stop that an error causes: an error for people, or a fault of the program. */
export function stopFromError(error: unknown): Stop {
	if (error instanceof CliError) {
		return { exit: error.exit, text: error.message, hint: error.hint };
	}
	return {
		exit: Exit.internal,
		text: `a fault of the program itself: ${reason(error)}`,
		hint: "Please report it; the rows that are pending may be sent again safely.",
	};
}

/** The same for requests that the user's signal may abort: then the error says only that they were aborted. */
export function stopOrSignal(fault: unknown, signal: AbortSignal): Stop {
	return signal.aborted ? stopOf(signal.reason) : stopFromError(fault);
}
