/** 15 s: long enough to be steady, short enough to show an outage. */
const WINDOW_MS = 15_000;
/** 1 s: a rate over less than that jumps about. */
const SHORTEST_MS = 1000;

/**
 * Rows a second over the last 15 seconds, from what each call says is done so far.
 *
 * @param now milliseconds
 */
export function rateMeter(now: () => number): (done: number) => number | undefined {
	let samples: { readonly at: number; readonly done: number }[] = [];
	return (done) => {
		const at = now();
		// The newest sample that is older than the window stays: the window begins there.
		const begin = samples.findLastIndex((sample) => at - sample.at >= WINDOW_MS);
		if (begin > 0) samples = samples.slice(begin);
		const [oldest] = samples;
		samples.push({ at, done });
		if (oldest === undefined || at - oldest.at < SHORTEST_MS) return undefined;
		return ((done - oldest.done) * 1000) / (at - oldest.at);
	};
}
