import type { ActivityState } from "../../activity.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import * as v from "valibot";

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

function heavierState(one: ActivityState, other: ActivityState): ActivityState {
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
function sumOf(all: readonly (SeriesPoint["slow"] | undefined)[]): SeriesPoint["slow"] | undefined {
	const sums = new Map<string, number>();
	for (const [name, count] of all.flatMap((counts) => Object.entries(counts ?? {}))) {
		sums.set(name, rounded((sums.get(name) ?? 0) + count));
	}
	return sums.size === 0 ? undefined : Object.fromEntries(sums);
}

/** The percentiles of several points: `p50` is the mean by the requests that were sent, `p95` the largest. */
function percentilesOf(points: readonly SeriesPoint[]): Pick<SeriesPoint, "p50" | "p95"> {
	const weighed = points.flatMap(({ p50, sent }) => (p50 === null ? [] : [{ p50, weight: Math.max(1, sent) }]));
	const weights = weighed.reduce((sum, { weight }) => sum + weight, 0);
	if (weights === 0) return { p50: null, p95: null };
	const mean = weighed.reduce((sum, { p50, weight }) => sum + p50 * weight, 0) / weights;
	return { p50: Number(mean.toPrecision(3)), p95: Math.max(...points.map(({ p95 }) => p95 ?? 0)) };
}

/** Two neighbours as one. Counts and seconds are exact, the percentiles no longer. */
function joined(one: SeriesPoint, next: SeriesPoint): SeriesPoint {
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
function halved(points: readonly SeriesPoint[]): SeriesPoint[] {
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

/** A point, and the number of its part. */
type Placed = SeriesPoint & { readonly part: number };

/**
 * The series of runs that went on beside each other, as one: its counts are the sums of theirs, second by second of the wall
 * clock. `p50` is the mean by the requests, `p95` the larger.
 *
 * @param isShared whether the parts had one cap together; otherwise their caps are added
 */
export function joinSeries(parts: readonly (readonly SeriesPoint[])[], isShared: boolean): SeriesPoint[] {
	const all = parts
		.flatMap((points, part): Placed[] => points.map((point) => ({ ...point, part })))
		.toSorted((one, other) => one.t - other.t);
	const start = all.reduce((least, { t, s }) => Math.min(least, t - s), Number.POSITIVE_INFINITY);
	const seconds = new Map<number, Placed[]>();
	for (const point of all) {
		const second = Math.max(1, Math.ceil(point.t - start));
		seconds.set(second, [...(seconds.get(second) ?? []), point]);
	}
	const latest = new Map<number, Placed>();
	const total = (of: (point: Placed) => number, points: Iterable<Placed> = latest.values()): number =>
		[...points].reduce((sum, point) => sum + of(point), 0);
	return [...seconds].map(([second, points]) => {
		for (const point of points) latest.set(point.part, point);
		const ends = [...new Map(points.map((point) => [point.part, point])).values()];
		return {
			t: rounded(start + second),
			s: 1,
			sent: total(({ sent }) => sent, points),
			done: total(({ done }) => done),
			failed: total(({ failed }) => failed),
			...percentilesOf(points),
			state: points.map(({ state }) => state).reduce(heavierState),
			...capsOf(ends, isShared),
			slow: sumOf(points.map(({ slow }) => slow)),
			errors: sumOf(points.map(({ errors }) => errors)),
		};
	});
}

function capsOf(points: readonly SeriesPoint[], isShared: boolean): Pick<SeriesPoint, "in_flight" | "cap" | "rate"> {
	const total = (values: readonly number[]): number =>
		rounded(values.reduce((sum, value) => (isShared ? Math.max(sum, value) : sum + value), 0));
	const caps = points.flatMap(({ cap }) => cap ?? []);
	const rates = points.flatMap(({ rate, cap }) => rate ?? cap ?? []);
	const isLowered = points.some(({ rate }) => rate !== undefined) && rates.length === points.length;
	return {
		in_flight: points.reduce((sum, { in_flight: each }) => sum + each, 0),
		cap: caps.length < points.length ? null : total(caps),
		...(isLowered ? { rate: total(rates) } : {}),
	};
}
