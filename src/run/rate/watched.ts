import type { RestError } from "../../rest/errors.ts";

/** An outage that is going on: how many milliseconds it has lasted and may last, and the latest failure. */
export type OngoingOutage = { readonly lasted: number; readonly limit: number; readonly error: RestError };

/** The parts of a run from which the state is read. */
export type Watched = {
	readonly outage: { readonly ongoing: OngoingOutage | undefined };
	/** requests a second that may start now, and those of the full rate; undefined while the rate is not lowered */
	readonly lowered: () => { readonly now: number; readonly full: number } | undefined;
	/** requests that may be in flight now */
	readonly concurrency: () => number;
};
