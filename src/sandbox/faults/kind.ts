import type { Store } from "../store/index.ts";
import type { RequestInfo } from "./request-info.ts";
import type { Channel } from "./channel.ts";
import type { Draft, Written } from "./draft.ts";
import type { PlanParams } from "./plan-params.ts";

/** Whether a request is applied before its answer is spoiled, or only answered as if. */
export type When = "before" | "after";

/** What a fault has at hand when it is its turn. */
export type Strike = {
	readonly asked: RequestInfo;
	readonly channel: Channel;
	/** the next number of this firing's own stream, from 0 up to 1 */
	readonly random: () => number;
	/** the answer before this one to a request of this method */
	readonly previous: Draft | undefined;
	/** stops listening and cuts all connections, and listens again on the same port after so many milliseconds */
	readonly outage: (milliseconds: number) => void;
};

/** The status that went out; `null` where none did. */
export type Sent = Promise<number | null>;

/**
 * One fault of a plan, alive: what it does at each station of a request. Stations that it leaves out go as always.
 *
 * Each of them may keep state, so it is made anew with each plan.
 */
export type Fault = {
	/** whether there is something for it to spoil, known before anything is asked; default: always */
	readonly suits?: (asked: RequestInfo, previous: Draft | undefined) => boolean;
	/** answers without asking the service, and without its body having been read */
	readonly instead?: (strike: Strike) => Sent;
	/** another URL to ask the service for */
	readonly ask?: (asked: RequestInfo) => string;
	/** milliseconds by which writes are applied later */
	readonly late?: (strike: Strike) => number;
	/** milliseconds from now in which every request is answered as by a server whose database is away */
	readonly away?: number;
	/** other metadata than were sent */
	readonly alter?: (metadata: string) => string;
	/** the answer, spoiled; `undefined` where it can't be, which only reads and refused requests may be */
	readonly spoil?: (draft: Draft, strike: Strike) => Draft | undefined;
	/** puts the answer on the wire in its own way */
	readonly send?: (answer: Written, strike: Strike) => Sent;
	/** told of each document whose metadata this fault's request has replaced */
	readonly replaced?: (dataset: string, document: string, before: string) => void;
	/** sees every answer to any request, after it was sent */
	readonly watch?: (asked: RequestInfo, answer: string, store: Store) => Promise<void>;
};

/** A kind of fault, as a plan names it. */
export type Kind = {
	/** one line: what it does */
	readonly about: string;
	/** its parameters with their defaults, one line */
	readonly takes: string;
	/** the variants that make sense, the default first */
	readonly when: readonly [When, ...When[]];
	readonly make: (given: PlanParams) => Fault;
};

/** Applied unless the plan says otherwise: the harder one for a client. */
export const both: Kind["when"] = ["after", "before"];

/** Milliseconds that a plan may ask for: an hour. */
export const milliseconds = { least: 0, most: 3_600_000 };

/** Bytes that a plan may ask for: what a Content-Length of two gigabytes needs. */
export const bytes = { least: 0, most: 2 ** 32 };
