/** The smallest time that is distinguished, in milliseconds. */
const LEAST_MS = 0.1;

/** Ratio of the bounds of a bucket: a percentile is within 4 % of the true one. */
const GROWTH = 1.08;

/** Up to 18 minutes; a longer request counts in the last bucket. */
const BUCKETS = 211;

const SCALE = 1 / Math.log(GROWTH);

/** Percentiles of the times of some requests, in milliseconds; null where there was none. */
type Percentiles = { readonly count: number; readonly p50: number | null; readonly p95: number | null };

/** The durations of a command's requests, as counts in buckets: its size does not depend on their number. */
export class Latencies {
	readonly #counts = new Uint32Array(BUCKETS);

	/** @param milliseconds of one request */
	add(milliseconds: number): void {
		const bucket = milliseconds <= LEAST_MS ? 0 : Math.ceil(Math.log(milliseconds / LEAST_MS) * SCALE);
		const at = Math.min(BUCKETS - 1, bucket);
		this.#counts[at] = (this.#counts[at] ?? 0) + 1;
	}

	/** The counts until now. Each reader keeps those that it has seen, so that readers don't disturb each other. */
	snapshot(): Uint32Array {
		return this.#counts.slice();
	}
}

/** Percentiles of the requests between two snapshots. @param from undefined for all until `to` */
export function percentilesBetween(from: Uint32Array | undefined, to: Uint32Array): Percentiles {
	const counts = Array.from(to, (count, at) => count - (from?.[at] ?? 0));
	const count = counts.reduce((sum, each) => sum + each, 0);
	if (count === 0) return { count, p50: null, p95: null };
	const valueAt = (share: number): number => {
		let seen = 0;
		const bucket = counts.findIndex((each) => (seen += each) >= share * count);
		// The middle of the bucket, on the scale of its bounds.
		return Number((LEAST_MS * GROWTH ** (bucket - 0.5)).toPrecision(3));
	};
	return { count, p50: valueAt(0.5), p95: valueAt(0.95) };
}
