import { CliError, Exit } from "../../errors.ts";
import { RestError } from "../../rest/errors.ts";
import type { Clock, Request } from "../types.ts";

/** Asks on for so long where the service can't be reached, in milliseconds. Only for requests that change nothing. */
export function sittingOut(request: Request, maxOutage: number, clock: Clock): Request {
	return async (call) => {
		const deadline = clock.now() + maxOutage;
		for (;;) {
			try {
				return await request(call);
			} catch (error) {
				if (!isOutage(error) || clock.now() >= deadline) throw error;
			}
		}
	};
}

/** Whether all tries of a request failed for want of an answer. Each of them has waited before the next. */
function isOutage(error: unknown): boolean {
	if (!(error instanceof CliError) || error.exit !== Exit.temporary) return false;
	return error.cause instanceof RestError && (error.cause.kind === "not_sent" || error.cause.kind === "ambiguous");
}
