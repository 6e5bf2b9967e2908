import { rateText } from "../../text/words.ts";
import type { Cause } from "./found-rate.ts";

/**
 * A cause that made a run slower, and for how many seconds: a status with Retry-After, `outage`, `slowed` for a lowered rate,
 * `concurrency` for answers that took long, `paused`, or `rows` where none of them held, and rows came no faster.
 */
export type SlowCause = { readonly cause: string; readonly seconds: number };

/** The speed of a run's requests. */
export type Pace = {
	/** requests that were answered or failed, of the run alone */
	readonly requests: number;
	/** seconds since its first row started */
	readonly seconds: number;
	/** mean time of one request, in milliseconds */
	readonly latency: number;
	/** requests that may be in flight, at the end */
	readonly concurrency: number;
	/** requests a second that were allowed; undefined for no cap, and where it has changed */
	readonly cap: number | undefined;
	readonly slow: readonly SlowCause[];
};

/** Why requests are sent more slowly than they may be. */
export type Slowness = {
	/** `restart`: after a wait or an outage */
	readonly cause: Cause | "restart";
	/** requests a second now */
	readonly now: number;
	/** the rate that was too high; undefined where it is not known */
	readonly at: number | undefined;
	/** milliseconds that an answer takes now */
	readonly latency: number;
};

/** Milliseconds that count for one cause, and the share of the cap below which they were slow. */
const SECOND_MS = 1_000;
const FULL_SHARE = 0.95;

/**
 * The seconds in which a run was slower than its cap. Each counts for one cause, the strongest, so they add up. Without a cap,
 * each second with a cause counts.
 */
export class SlowSeconds {
	readonly #cap: () => number | undefined;
	/** milliseconds by cause */
	readonly #slow = new Map<string, number>();
	/** of the present second: milliseconds by cause, those of all, and the requests that were sent */
	readonly #second = new Map<string | undefined, number>();
	#lasted = 0;
	#sent = 0;

	constructor(cap: () => number | undefined) {
		this.#cap = cap;
	}

	sent(): void {
		this.#sent += 1;
	}

	/** So much time passed with that cause. */
	add(cause: string | undefined, milliseconds: number): void {
		let left = milliseconds;
		while (left > 0) {
			const part = Math.min(left, SECOND_MS - this.#lasted);
			this.#second.set(cause, (this.#second.get(cause) ?? 0) + part);
			this.#lasted += part;
			left -= part;
			if (this.#lasted >= SECOND_MS) this.#end();
		}
	}

	/** Milliseconds by cause, those of the present second included. */
	milliseconds(): ReadonlyMap<string, number> {
		this.#end();
		return this.#slow;
	}

	/** The present second counts for its strongest cause, if it was slower than the cap. */
	#end(): void {
		const cap = this.#cap();
		let [cause, most] = [cap === undefined ? undefined : "rows", 0];
		for (const [each, milliseconds] of this.#second) {
			if (each !== undefined && milliseconds > most) [cause, most] = [each, milliseconds];
		}
		const lasted = this.#lasted;
		const isSlow = cap === undefined || this.#sent * SECOND_MS < FULL_SHARE * cap * lasted;
		if (isSlow && cause !== undefined && lasted > 0) this.#slow.set(cause, (this.#slow.get(cause) ?? 0) + lasted);
		this.#second.clear();
		this.#lasted = this.#sent = 0;
	}
}

/** `429 at 61/s`, `answers take 2.1 s, 64 in flight`. */
export function slownessText({ cause, now, at, latency }: Slowness, inFlight: number): string {
	if (cause === "restart") return "starts again slowly";
	if (cause === "latency") return `answers take ${latencyText(latency)}, ${inFlight} in flight`;
	return `${cause} at ${rateText(at ?? now)}/s`;
}

/** `32 ms`, `2.1 s`. */
function latencyText(milliseconds: number): string {
	return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Percentiles of the times of some requests, in milliseconds; null where there was none. */
type Percentiles = { readonly p50: number | null; readonly p95: number | null };

/** The most times that are kept: more of one second say no more. */
const MOST_TIMES = 10_000;

/** The durations of requests. */
export class Latencies {
	#times: number[] = [];

	/** @param milliseconds of one request */
	add(milliseconds: number): void {
		if (this.#times.length < MOST_TIMES) this.#times.push(milliseconds);
	}

	/** The percentiles of those since the last call. */
	take(): Percentiles {
		const times = this.#times.toSorted((one, other) => one - other);
		this.#times = [];
		const at = (share: number): number | null => {
			const time = times[Math.ceil(share * times.length) - 1];
			return time === undefined ? null : Number(time.toPrecision(3));
		};
		return { p50: at(0.5), p95: at(0.95) };
	}
}
