import { RestError } from "../../rest/errors.ts";
import type { Clock, Request } from "../types.ts";

/** Waits before a page is asked for again, in milliseconds: in all less than the end of a run may take. */
const WAITS = [100, 400, 1_500];

/**
 * Asks again for what failed in passing. Only for requests that change nothing.
 *
 * A list of a thousand pages that began anew with each one that fails would not come to its end. What lasts longer is the
 * row's own business, which knows of outages and limits.
 */
export function insisting(request: Request, clock: Clock): Request {
	return async (call) => {
		for (const wait of WAITS) {
			try {
				return await request(call);
			} catch (error) {
				if (!isPassing(error)) throw error;
				await clock.sleep(wait);
			}
		}
		return request(call);
	};
}

function isPassing(error: unknown): boolean {
	return error instanceof RestError && ["ambiguous", "not_sent", "doubted"].includes(error.kind);
}
