/**
 * The state of a command.
 *
 * - `checking`: reads its input, and judges it
 * - `reading`: reads from the service before the first write
 * - `running`: sends rows
 * - `slowed`: sends rows at a rate that was lowered after the service asked for it, or after an outage
 * - `waiting`: waits because the service asked for it (Retry-After)
 * - `paused`: sends nothing until the user continues it
 * - `outage`: waits for a service that does not answer
 * - `verifying`: reads back what it wrote
 * - `stopping`: begins nothing new, and waits for the requests in flight
 */
export type ActivityState =
	| "checking"
	| "reading"
	| "running"
	| "slowed"
	| "waiting"
	| "paused"
	| "outage"
	| "verifying"
	| "stopping";

/** The state of a command, with its cause. Of the engine, `RunMonitor` gives it; `io` shows it. */
export type Activity = {
	readonly state: ActivityState;
	/** a few words: what is checked, or why it waits; safe to show */
	readonly cause?: string | undefined;
	/** how long it has been in this state, in seconds */
	readonly seconds: number;
	/** how long a wait takes in all, or an outage at most, in seconds */
	readonly of?: number | undefined;
	/** `slowed`: requests a second that may start now, and those that the user allows */
	readonly rate?: { readonly now: number; readonly cap: number } | undefined;
};
