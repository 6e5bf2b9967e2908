import { reason } from "../../errors.ts";
import { Sampler, type Sampled } from "../../run/series/sampler.ts";
import { SeriesFile } from "../../run/series/series-file.ts";

/** The series of a run, which is recorded until it is closed. */
export type Series = {
	/** A row failed with that code. */
	failed(code: string): void;
	/** Writes the last point. Closing it twice does no harm. */
	close(): Promise<void>;
};

/** The clocks, injected so that no test waits. */
export type SeriesTimers = {
	/** milliseconds on a monotonic clock */
	now(): number;
	/** epoch milliseconds */
	wall(): number;
	/** calls repeatedly, until the returned function is called; keeps no process alive */
	every(milliseconds: number, call: () => void): () => void;
};

const SECOND_MS = 1000;

/** Seconds that the last point covers at least. */
const LEAST = 0.001;

/** Share of a second by which a timer may be early. */
const EARLY = 0.1;

export const systemTimers: SeriesTimers = {
	now: () => performance.now(),
	wall: Date.now,
	every: (milliseconds, call) => {
		const timer = setInterval(call, milliseconds).unref();
		return () => clearInterval(timer);
	},
};

/**
 * Appends a line a second to the series of a run. What can't be written is reported once by `note`, and the run goes on
 * without a series.
 */
export function recordSeries(
	path: string,
	sampled: Sampled,
	note: (text: string) => void,
	timers: SeriesTimers = systemTimers,
): Series {
	const sampler = new Sampler(sampled, timers.now());
	let isOver = false;
	const attempt = async (work: () => Promise<void>): Promise<void> => {
		try {
			if (!isOver) await work();
		} catch (error) {
			isOver = true;
			note(`The figures of this run are not recorded from here on: ${path}: ${reason(error)}`);
		}
	};
	let file: SeriesFile | undefined;
	let isBusy = true;
	let work = attempt(async () => void (file = await SeriesFile.open(path))).finally(() => (isBusy = false));
	const take = (least: number): void => {
		const now = timers.now();
		const open = file;
		if (sampler.observe(now) < least || isBusy || open === undefined) return;
		isBusy = true;
		work = attempt(() => open.append(sampler.take(now, timers.wall() / SECOND_MS))).finally(() => (isBusy = false));
	};
	const cancel = timers.every(SECOND_MS, () => take((file?.interval ?? 1) - EARLY));
	return {
		failed: (code) => sampler.failed(code),
		close: async () => {
			cancel();
			await work;
			take(LEAST);
			await work;
			await attempt(async () => file?.close());
			isOver = true;
		},
	};
}
