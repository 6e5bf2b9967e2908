import { heavierState, percentilesOf, rounded, type SeriesPoint, sumOf } from "./point.ts";

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
