import type { Activity, ActivityState } from "../../activity.ts";
import { type Counters, percentilesBetween } from "../rate/slow-seconds.ts";
import type { Totals } from "../types.ts";
import { type SeriesPoint, heavierState, rounded } from "./point.ts";

/** The sources of a point. Only figures that exist anyway are read. */
export type Sampled = {
	readonly monitor: { counters(): Counters; current(): Activity | undefined };
	readonly journal: { totals(): Totals };
	/** requests a second that the user allows; undefined for no cap */
	readonly cap: () => number | undefined;
};

/** The most codes that a point names. A service with more in one second invents codes. */
const MOST_CODES = 20;
const OTHER_CODES = "OTHER";

/** Makes the points of a series: each covers the time since the previous one. */
export class Sampler {
	readonly #sampled: Sampled;
	#before: Counters;
	#since: number;
	#state: ActivityState | undefined;
	readonly #errors = new Map<string, number>();

	/** @param now milliseconds on a monotonic clock */
	constructor(sampled: Sampled, now: number) {
		this.#sampled = sampled;
		this.#before = sampled.monitor.counters();
		this.#since = now;
	}

	/** A row failed. */
	failed(code: string): void {
		const name = this.#errors.has(code) || this.#errors.size < MOST_CODES ? code : OTHER_CODES;
		this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1);
	}

	/** Notes the state: a point that covers several seconds has the one that says most. @returns seconds since the last point */
	observe(now: number): number {
		const state = stateOf(this.#sampled);
		this.#state = this.#state === undefined ? state : heavierState(this.#state, state);
		return (now - this.#since) / 1000;
	}

	/** @param t epoch seconds */
	take(now: number, t: number): SeriesPoint {
		const seconds = this.observe(now);
		const { monitor, journal, cap } = this.#sampled;
		const { rows, pending, invalid, duplicateSkipped, failed } = journal.totals();
		const counters = monitor.counters();
		const { p50, p95 } = percentilesBetween(this.#before.latencies, counters.latencies);
		const lowered = monitor.current()?.rate?.now;
		const slow = [...counters.slow]
			.map(([cause, ms]) => [cause, rounded((ms - (this.#before.slow.get(cause) ?? 0)) / 1000)] as const)
			.filter(([, each]) => each > 0);
		const point: SeriesPoint = {
			t: rounded(t),
			s: rounded(seconds),
			sent: counters.sent - this.#before.sent,
			done: rows - pending - invalid - duplicateSkipped,
			failed,
			p50,
			p95,
			state: this.#state ?? stateOf(this.#sampled),
			in_flight: counters.inFlight,
			cap: cap() ?? null,
			...(lowered === undefined ? {} : { rate: Math.round(lowered * 10) / 10 }),
			...(slow.length === 0 ? {} : { slow: Object.fromEntries(slow) }),
			...(this.#errors.size === 0 ? {} : { errors: Object.fromEntries(this.#errors) }),
		};
		this.#before = counters;
		this.#since = now;
		this.#state = undefined;
		this.#errors.clear();
		return point;
	}
}

/** A run that is sampled has begun. */
function stateOf({ monitor }: Sampled): Activity["state"] {
	return monitor.current()?.state ?? "running";
}
