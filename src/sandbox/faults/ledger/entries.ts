import type { When } from "../kind.ts";

/** The fault that a request met: its name, its place in the plan from 0 on, and its variant. */
export type Met = { readonly name: string; readonly index: number; readonly when: When };

/** A request, written down when it was answered. Times are ISO, in UTC, with milliseconds. */
export type RequestEntry = {
	readonly type: "request";
	/** from 1 on, in order of arrival */
	readonly request: number;
	/** of its arrival */
	readonly time: string;
	readonly method: string;
	readonly path: string;
	readonly document: string | null;
	/** the header X-Request-Id */
	readonly request_id: string | null;
	readonly fault: Met | null;
	/** null where no status was sent */
	readonly status: number | null;
};

/** One thing that a request has changed, written down when it was committed. */
export type AppliedEntry = {
	readonly type: "applied";
	readonly request: number;
	/** of the commit */
	readonly time: string;
	readonly method: string;
	readonly request_id: string | null;
	/** `lose` is a fault's own doing: metadata that were there are put back to what was before */
	readonly action: "update" | "upload" | "remove" | "create" | "lose";
	readonly dataset: string;
	readonly document: string | null;
	/** of what is stored; SHA-256 of its text, in hexadecimal */
	readonly meta_sha256?: string;
	/** left out where its text is over a kilobyte, or no JSON: NaN */
	readonly meta_fields?: unknown;
};

/** Entries that are no longer held: from and to, both included. */
export type GapEntry = { readonly type: "gap"; readonly from: number; readonly to: number };

export type LedgerEntry = { readonly entry: number } & (RequestEntry | AppliedEntry);
