import { heavierState, type SeriesPoint } from "./point.ts";

/**
 * Two neighbours as one. Counts and seconds are exact. The percentiles are no longer: `p50` is the mean of both by the
 * requests that were sent, `p95` the larger.
 */
export function joined(one: SeriesPoint, next: SeriesPoint): SeriesPoint {
	const { t, done, failed, in_flight, cap } = next;
	const [slow, errors] = [added(one.slow, next.slow), added(one.errors, next.errors)];
	const rate = next.rate ?? one.rate;
	return {
		t,
		s: rounded(one.s + next.s),
		sent: one.sent + next.sent,
		done,
		failed,
		p50: meanOf(one, next),
		p95: one.p95 === null || next.p95 === null ? (one.p95 ?? next.p95) : Math.max(one.p95, next.p95),
		state: heavierState(one.state, next.state),
		in_flight,
		cap,
		...(rate === undefined ? {} : { rate }),
		...(slow === undefined ? {} : { slow }),
		...(errors === undefined ? {} : { errors }),
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

/** Milliseconds are enough: sums of binary fractions would have many digits. */
export function rounded(seconds: number): number {
	return Math.round(seconds * 1000) / 1000;
}

function meanOf(one: SeriesPoint, next: SeriesPoint): number | null {
	if (one.p50 === null || next.p50 === null) return one.p50 ?? next.p50;
	const [left, right] = [Math.max(1, one.sent), Math.max(1, next.sent)];
	return Number(((one.p50 * left + next.p50 * right) / (left + right)).toPrecision(3));
}

type Counts = Readonly<Record<string, number>>;

function added(one: Counts | undefined, other: Counts | undefined): Counts | undefined {
	if (one === undefined || other === undefined) return one ?? other;
	const sum = new Map(Object.entries(one));
	for (const [name, count] of Object.entries(other)) sum.set(name, rounded((sum.get(name) ?? 0) + count));
	return Object.fromEntries(sum);
}
