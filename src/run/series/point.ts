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

/** The finest resolution of a series, in seconds. */
const FINEST_S = 1;

type Part = readonly SeriesPoint[];

/**
 * The series of runs that went on beside each other, as one: its counts are the sums of theirs, second by second of the wall
 * clock. `sent`, `done` and `failed` are exact over the whole; within a point of a part they are taken to grow evenly.
 * `p50` is the mean by the requests, `p95` the larger.
 *
 * @param isShared whether the parts had one cap together; otherwise their caps are added
 */
export function joinSeries(parts: readonly Part[], isShared: boolean): SeriesPoint[] {
	const own = parts
		.map((points) => points.toSorted((one, other) => one.t - other.t))
		.filter(({ length }) => length > 0);
	const all = own.flat();
	const [first] = all;
	if (first === undefined) return [];
	const start = all.reduce((least, { t, s }) => Math.min(least, t - s), first.t);
	const step = all.reduce((most, { s }) => Math.max(most, Math.floor(s)), FINEST_S);
	const byBucket = bucketsOf(own, (point) => Math.max(0, Math.ceil((point.t - start) / step) - 1));
	const counts = own.map(countsOf);
	const joined: SeriesPoint[] = [];
	let before = 0;
	for (const [bucket, points] of [...byBucket].toSorted(([one], [other]) => one - other)) {
		const t = rounded(start + (bucket + 1) * step);
		const sums = totalsOf(counts.map((at) => at(t)));
		joined.push({
			t,
			s: step,
			...sums,
			sent: sums.sent - before,
			...percentilesOf(points),
			state: points.reduce((state, point) => heavierState(state, point.state), points[0].state),
			...capsOf(lastOfEach(points), isShared),
			slow: sumOf(points.map(({ slow }) => slow)),
			errors: sumOf(points.map(({ errors }) => errors)),
		});
		before = sums.sent;
	}
	return joined;
}

/** A point, and the number of its part. */
type Placed = SeriesPoint & { readonly part: number };
type Some = readonly [Placed, ...Placed[]];

function bucketsOf(parts: readonly Part[], bucketOf: (point: SeriesPoint) => number): ReadonlyMap<number, Some> {
	const buckets = new Map<number, [Placed, ...Placed[]]>();
	for (const [part, points] of parts.entries()) {
		for (const point of points) {
			const placed = { ...point, part };
			const bucket = buckets.get(bucketOf(point));
			if (bucket === undefined) buckets.set(bucketOf(point), [placed]);
			else bucket.push(placed);
		}
	}
	return buckets;
}

type Counts = { readonly sent: number; readonly done: number; readonly failed: number };

/** The counts of a part until a time. Times must be asked in their order. */
function countsOf(points: Part): (t: number) => Counts {
	let before: Counts = { sent: 0, done: 0, failed: 0 };
	let next = 0;
	return (t) => {
		let point = points[next];
		for (; point !== undefined && point.t <= t; point = points[(next += 1)]) {
			before = { sent: before.sent + point.sent, done: point.done, failed: point.failed };
		}
		if (point === undefined || point.s <= 0) return before;
		const share = Math.max(0, 1 - (point.t - t) / point.s);
		const { sent, done, failed } = before;
		return {
			sent: sent + share * point.sent,
			done: done + share * (point.done - done),
			failed: failed + share * (point.failed - failed),
		};
	};
}

function totalsOf(counts: readonly Counts[]): Counts {
	const sum = (of: (each: Counts) => number): number => Math.round(counts.reduce((total, each) => total + of(each), 0));
	return { sent: sum(({ sent }) => sent), done: sum(({ done }) => done), failed: sum(({ failed }) => failed) };
}

function lastOfEach(points: Some): readonly Placed[] {
	return [...new Map(points.map((point) => [point.part, point])).values()];
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
