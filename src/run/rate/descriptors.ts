import { readFileSync } from "node:fs";

/** Linux tells here what a process may open. Node has raised the soft limit to the hard one by then. */
const LIMITS = "/proc/self/limits";

/** Descriptors that a run needs besides its requests: records, lists, terminals, a nameserver. */
const OTHERS = 128;

/** Requests in flight at most for a rate that the user asked for: 5,000 a second at 300 ms need 1,500. */
export const MOST_ASKED = 2_000;

/**
 * Requests that may be in flight at a time, as each takes a connection: as many as file descriptors allow, at most
 * `MOST_ASKED`. Other systems than Linux allow that many by default.
 */
export function mostConnections(): number {
	try {
		return connectionsWithin(readFileSync(LIMITS, "utf8"));
	} catch {
		return connectionsWithin("");
	}
}

/** The same by the text of the limits. */
export function connectionsWithin(limits: string): number {
	const open = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
	return Math.max(1, Math.min(MOST_ASKED, open - OTHERS));
}
