import type { RestError } from "../../rest/errors.ts";

/** An attempt that follows a failed one. */
export type NextAttempt = {
	/** `2 of 6` */
	readonly attempt: string;
	/** on the clock */
	readonly at: number;
	/** why the one before it failed, in a few words */
	readonly cause: string;
};

/** Attempt number `next` of those that are allowed. `--max-outage` may allow more for the first answer. */
export function nextAttempt(error: RestError, next: number, allowed: number, at: number): NextAttempt {
	return { attempt: next <= allowed ? `${next} of ${allowed}` : String(next), at, cause: shortText(error) };
}

/** A failure in a few words: `connection refused`, `HTTP 502`, `timeout`. */
export function shortText({ code }: RestError): string {
	return code.startsWith("HTTP_") ? code.replace("_", " ") : code.toLowerCase().replaceAll("_", " ");
}
