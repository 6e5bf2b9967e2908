import type { AppTimers } from "../../app.ts";
import { reason } from "../../errors.ts";
import { Sampler, type Sampled } from "../../run/series/sampler.ts";
import type { Clock } from "../../run/types.ts";
import { SeriesFile } from "../../run/series/series-file.ts";

/** The series of a run, which is recorded until it is closed. */
export type Series = {
	/** A row failed with that code. */
	failed(code: string): void;
	/** Writes the last point. Closing it twice does no harm. */
	close(): Promise<void>;
};

const SECOND_MS = 1000;

/** Seconds that the last point covers at least. */
const LEAST = 0.001;

/** Share of a second by which a timer may be early. */
const EARLY = 0.1;

/**
 * Appends a line a second to the series of a run. What can't be written is reported once by `note`, and the run goes on
 * without a series.
 */
export function recordSeries(
	path: string,
	sampled: Sampled,
	note: (text: string) => void,
	{ clock, timers }: { readonly clock: Pick<Clock, "now">; readonly timers: AppTimers },
): Series {
	const sampler = new Sampler(sampled, clock.now());
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
		const now = clock.now();
		const open = file;
		if (sampler.observe(now) < least || isBusy || open === undefined) return;
		isBusy = true;
		work = attempt(() => open.append(sampler.take(now, timers.date().getTime() / SECOND_MS))).finally(
			() => (isBusy = false),
		);
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
