import * as v from "valibot";
import type { ActivityState } from "../../activity.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";

/** The importance of each state for a part of a run: the most important one is kept. */
const WEIGHTS: Readonly<Record<ActivityState, number>> = {
	outage: 8,
	paused: 7,
	waiting: 6,
	slowed: 5,
	stopping: 4,
	verifying: 3,
	running: 2,
	reading: 1,
	checking: 0,
};

export function heavierState(one: ActivityState, other: ActivityState): ActivityState {
	return WEIGHTS[one] >= WEIGHTS[other] ? one : other;
}

function isState(value: unknown): value is ActivityState {
	return typeof value === "string" && Object.hasOwn(WEIGHTS, value);
}

const COUNT = v.pipe(v.number(), v.finite(), v.minValue(0));
const COUNTS = v.record(v.string(), COUNT);

const POINT = v.object({
	/** its end, in epoch seconds */
	t: COUNT,
	/** the number of seconds that it covers */
	s: COUNT,
	/** requests that went out in it */
	sent: COUNT,
	/** rows that were settled until `t`, over all executions of the run, and how many of them had failed */
	done: COUNT,
	failed: COUNT,
	/** percentiles of the requests that ended in it, in milliseconds; null where none did */
	p50: v.nullable(COUNT),
	p95: v.nullable(COUNT),
	state: v.custom<ActivityState>(isState),
	/** requests in flight at `t` */
	in_flight: COUNT,
	/** requests a second that the user allows; null for no cap */
	cap: v.nullable(COUNT),
	/** requests a second that may start, where the run has lowered its rate */
	rate: v.optional(COUNT),
	/** the causes that made the run slower in it, with their seconds; names as in the summary */
	slow: v.optional(COUNTS),
	/** rows that failed in it, by the code of their error */
	errors: v.optional(COUNTS),
});

/** The figures of a short part of a run, mostly one second: a line of `series.jsonl`. */
export type SeriesPoint = Readonly<v.InferOutput<typeof POINT>>;

/** Reads a line. @returns undefined where it was cut off, or is none of ours */
export function readPoint(line: string): SeriesPoint | undefined {
	const { success, output } = v.safeParse(POINT, jsonObjectOf(line));
	return success ? output : undefined;
}

/** Milliseconds are enough: sums of binary fractions would have many digits. */
export function rounded(seconds: number): number {
	return Math.round(seconds * 1000) / 1000;
}

/** Counts under the same names are added; undefined where there are none. */
export function sumOf(all: readonly (SeriesPoint["slow"] | undefined)[]): SeriesPoint["slow"] | undefined {
	const sums = new Map<string, number>();
	for (const [name, count] of all.flatMap((counts) => Object.entries(counts ?? {}))) {
		sums.set(name, rounded((sums.get(name) ?? 0) + count));
	}
	return sums.size === 0 ? undefined : Object.fromEntries(sums);
}

/** The percentiles of several points: `p50` is the mean by the requests that were sent, `p95` the largest. */
export function percentilesOf(points: readonly SeriesPoint[]): Pick<SeriesPoint, "p50" | "p95"> {
	const weighed = points.flatMap(({ p50, sent }) => (p50 === null ? [] : [{ p50, weight: Math.max(1, sent) }]));
	const weights = weighed.reduce((sum, { weight }) => sum + weight, 0);
	if (weights === 0) return { p50: null, p95: null };
	const mean = weighed.reduce((sum, { p50, weight }) => sum + p50 * weight, 0) / weights;
	return { p50: Number(mean.toPrecision(3)), p95: Math.max(...points.map(({ p95 }) => p95 ?? 0)) };
}

/** Two neighbours as one. Counts and seconds are exact, the percentiles no longer. */
export function joined(one: SeriesPoint, next: SeriesPoint): SeriesPoint {
	return {
		...next,
		s: rounded(one.s + next.s),
		sent: one.sent + next.sent,
		...percentilesOf([one, next]),
		state: heavierState(one.state, next.state),
		rate: next.rate ?? one.rate,
		slow: sumOf([one.slow, next.slow]),
		errors: sumOf([one.errors, next.errors]),
	};
}

/** Half as many points, each of two neighbours. */
export function halved(points: readonly SeriesPoint[]): SeriesPoint[] {
	const half: SeriesPoint[] = [];
	for (let at = 0; at < points.length; at += 2) {
		const [one, next] = [points[at], points[at + 1]];
		if (one !== undefined) half.push(next === undefined ? one : joined(one, next));
	}
	return half;
}

/** The points with as little resolution as needed for at most `most` of them. */
export function condensed(points: readonly SeriesPoint[], most: number): readonly SeriesPoint[] {
	let fewer = points;
	while (fewer.length > most) fewer = halved(fewer);
	return fewer;
}
