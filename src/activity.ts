/**
 * The states of a command.
 *
 * - `checking`: reads its input, and judges it
 * - `reading`: reads from the service before the first write
 * - `running`: sends rows
 * - `slowed`: sends rows at a rate that was lowered as the service asked for it, or fewer than it may as answers take long
 * - `waiting`: waits because the service asked for it (Retry-After)
 * - `paused`: sends nothing until the user continues it
 * - `outage`: waits for a service that does not answer
 * - `verifying`: reads back what it wrote
 * - `stopping`: begins nothing new, and waits for the requests in flight
 */
export const ACTIVITY_STATES = [
	"checking",
	"reading",
	"running",
	"slowed",
	"waiting",
	"paused",
	"outage",
	"verifying",
	"stopping",
] as const;

/** How much of a piece of work is done that has no rows with outcomes. */
export type WorkCount = {
	readonly done: number;
	readonly total?: number | undefined;
	/** what is counted, where the name of the work does not say it: `rows` */
	readonly unit?: string | undefined;
};

/** The state of a command, with its cause. `RunMonitor` gives it; `io` shows it. */
export type Activity = {
	readonly state: (typeof ACTIVITY_STATES)[number];
	/** what is checked, read or verified: `documents of DATASET`; safe to show */
	readonly what?: string | undefined;
	/** how much of that is done */
	readonly count?: WorkCount | undefined;
	/** a few words that say why it waits; safe to show */
	readonly cause?: string | undefined;
	/** a request is repeated because of `cause`: which attempt (`2 of 6`) follows, and in how many seconds */
	readonly again?: { readonly attempt: string; readonly seconds: number } | undefined;
	/** how long it has been in this state, in seconds */
	readonly seconds: number;
	/** how long a wait takes in all, or an outage at most, in seconds */
	readonly of?: number | undefined;
	/** `outage`: seconds until it is tried again */
	readonly next?: number | undefined;
	/** `slowed`: requests a second now, and those that the user allows; undefined for no cap */
	readonly rate?: { readonly now: number; readonly cap: number | undefined } | undefined;
	/** requests a second that the user allows now; undefined for no cap */
	readonly cap?: number | undefined;
	/** documents of rows that the service parses now, and the sum of their progress, each from 0 to 1 */
	readonly parsing?: { readonly running: number; readonly share: number } | undefined;
	/** bytes of files that went out or came in */
	readonly bytes?: number | undefined;
	/** those of all files, where it is known before the first */
	readonly bytesTotal?: number | undefined;
	/** requests a second that `--rate auto` allows now */
	readonly auto?: number | undefined;
};
