import { RateEpoch, type RequestKind } from "./rate-epoch.ts";
import {
	type FoundRate,
	isSlowWithoutCause,
	newRateSearch,
	observed,
	type RateSearch,
	refused,
} from "./rate-search.ts";

/** One request that was answered: when it was sent and when its answer came, in milliseconds. */
export type Answered = {
	readonly kind: RequestKind;
	readonly sent: number;
	readonly came: number;
	/** the status with which the service asked to slow down; undefined for any other answer */
	readonly refusal?: "429" | "503" | undefined;
};

/** From this rate on (requests a second) it is a whole number; below, it has one digit after the point. */
const WHOLE_FROM = 10;

/** Finds the rate that a service stands, answer by answer. It has no clock: times in, a rate out. */
export class RateFinder {
	#search: RateSearch;
	#epoch: RateEpoch;
	/** requests a second that were answered in the epoch before */
	#answered: number | undefined;

	/** @param now in milliseconds */
	constructor(now: number, search: RateSearch = newRateSearch()) {
		this.#search = search;
		this.#epoch = new RateEpoch(now);
	}

	/** Requests a second, in few digits. */
	get rate(): number {
		return rounded(this.#search.rate);
	}

	/** What this run found, or the rate that it reached without a sign. */
	get found(): FoundRate {
		const { finding, isOwn } = this.#search;
		if (!isOwn || finding === undefined) return { rate: this.rate, because: null, at: null };
		return { ...finding, rate: rounded(finding.rate), at: rounded(finding.at) };
	}

	/** The same search goes on after a time in which another rate held. */
	again(now: number): RateFinder {
		return new RateFinder(now, this.#search);
	}

	/** @returns whether the rate has changed */
	answered({ kind, sent, came, refusal }: Answered): boolean {
		const before = this.#search;
		if (refusal !== undefined) {
			const meanwhile = { sent, now: came, answered: this.#epoch.answeredUntil(came) ?? this.#answered };
			return this.#take(refused(before, refusal, meanwhile), came);
		}
		const epoch = this.#epoch;
		epoch.answered(kind, sent, came);
		if (!epoch.isOver(came)) return false;
		const seen = epoch.seen(came);
		this.#answered = seen.answered;
		const next = observed(before, seen, came);
		if (isSlowWithoutCause(before, next)) epoch.takeAsLeast();
		this.#epoch = new RateEpoch(came, epoch);
		return this.#take(next, came);
	}

	#take(next: RateSearch, now: number): boolean {
		const before = this.rate;
		if (next.cutAt !== this.#search.cutAt) this.#epoch = new RateEpoch(now, this.#epoch);
		this.#search = next;
		return this.rate !== before;
	}
}

function rounded(rate: number): number {
	return rate >= WHOLE_FROM ? Math.round(rate) : Math.round(rate * 10) / 10;
}
