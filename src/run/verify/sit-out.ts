import { failureBehind } from "../retry/request.ts";
import { DOUBTED_FOR } from "../rate/outage.ts";
import type { Clock, Request } from "../types.ts";

/** Asks on for so long where the service can't be reached, in milliseconds. Only for requests that change nothing. */
export function sittingOut(request: Request, maxOutage: number, clock: Clock): Request {
	return async (call) => {
		const start = clock.now();
		for (;;) {
			try {
				return await request(call);
			} catch (error) {
				if (clock.now() - start >= patienceFor(error, maxOutage)) throw error;
			}
		}
	};
}

/** How long a failure is sat out. All tries of the request failed, and each has waited before the next. */
function patienceFor(error: unknown, maxOutage: number): number {
	const kind = failureBehind(error)?.kind;
	if (kind === "doubted") return Math.min(DOUBTED_FOR, maxOutage);
	return kind === "not_sent" || kind === "ambiguous" ? maxOutage : 0;
}
