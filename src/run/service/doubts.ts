import type { RestError } from "../../rest/errors.ts";

/** How long a flavour that was just found out is not doubted again, in milliseconds: rows that fail alike ask once. */
const CONFIRMED_FOR = 60_000;

/** Times in a row that a wrong verb may lead to the same flavour again before it is doubted no more than other answers. */
const FRUITLESS = 3;

/**
 * Whether an answer that does not fit what was spoken is a reason to find the flavour out anew.
 *
 * A code 100 may be about its row alone. A "405" is about none: the service was changed, however lately it was asked.
 */
export class Doubts {
	#confirmedAt = Number.NEGATIVE_INFINITY;
	#fruitless = 0;

	isReason(error: RestError | undefined, now: number): boolean {
		const isVerb = error !== undefined && isWrongVerb(error) && this.#fruitless < FRUITLESS;
		return isVerb || now - this.#confirmedAt >= CONFIRMED_FOR;
	}

	/** It was found out anew, and is the same. */
	confirmed(error: RestError | undefined, now: number): void {
		this.#confirmedAt = now;
		if (error !== undefined && isWrongVerb(error)) this.#fruitless += 1;
	}

	/** It was found out anew, and is another. */
	changed(): void {
		this.#fruitless = 0;
		this.#confirmedAt = Number.NEGATIVE_INFINITY;
	}
}

function isWrongVerb({ status, message }: RestError): boolean {
	return status === 405 || /\b405\b.*method not allowed/i.test(message);
}
