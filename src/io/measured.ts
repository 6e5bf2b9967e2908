import type { Activity } from "../activity.ts";
import { isStanding, type ProgressState, type RowCounts } from "./progress-lines.ts";
import type { WidthOf } from "../text/show.ts";

/** 30 s: long enough for a steady rate and time left, short enough to show an outage. */
const WINDOW_MS = 30_000;

/** 1 s: a rate over a shorter time varies too much. */
const SHORTEST_MS = 1000;

/** The progress of one piece of work, with its measured rate and its time left. */
export class MeasuredProgress {
	readonly #now: () => number;
	#rate: Meter;
	readonly #moved: Meter;
	/** whether it stood when it was shown last, and the cap then */
	#stood = false;
	#cap: number | undefined;
	#rows: RowCounts | undefined;

	/** @param now milliseconds */
	constructor(now: () => number) {
		this.#now = now;
		this.#rate = meter(now);
		this.#moved = meter(now);
	}

	update(rows: RowCounts): void {
		// The rate counts from the first counts: a resumed run begins with rows that are done.
		if (this.#rows === undefined) this.#rate(rows.done);
		this.#rows = rows;
	}

	/** Whether there are counts. */
	get hasBegun(): boolean {
		return this.#rows !== undefined;
	}

	/** How far the rows are; undefined before the first counts. @param activity what the command is doing */
	state(activity: Activity | undefined): ProgressState | undefined {
		const rows = this.#rows;
		if (rows === undefined) return undefined;
		// The service's own progress of what it parses: else nothing would move until the first document is done.
		const done = rows.done + (activity?.parsing?.share ?? 0);
		const stands = isStanding(activity);
		// After a wait, an outage or a pause, and at another cap, the time before says nothing of the time left.
		if ((this.#stood && !stands) || activity?.cap !== this.#cap) {
			this.#rate = meter(this.#now);
			this.#rate(done);
		}
		[this.#stood, this.#cap] = [stands, activity?.cap];
		const rate = this.#rate(done);
		const bytesRate = activity?.bytes === undefined ? undefined : this.#moved(activity.bytes);
		return { rows, rate, bytesRate, left: stands ? undefined : secondsLeft({ ...rows, done }, rate), activity };
	}
}

function secondsLeft({ done, total }: RowCounts, rate: number | undefined): number | undefined {
	if (total === undefined || rate === undefined || rate <= 0 || done >= total) return undefined;
	return Math.ceil((total - done) / rate);
}

/** Rows or bytes a second over the last seconds. Each call gives how many are done so far. */
type Meter = (done: number) => number | undefined;

function meter(now: () => number): Meter {
	let samples: { readonly at: number; readonly done: number }[] = [];
	return (done) => {
		const at = now();
		// The newest sample before the window stays, as the window begins there.
		const begin = samples.findLastIndex((sample) => at - sample.at >= WINDOW_MS);
		if (begin > 0) samples = samples.slice(begin);
		const [oldest] = samples;
		samples.push({ at, done });
		if (oldest === undefined || at - oldest.at < SHORTEST_MS) return undefined;
		return ((done - oldest.done) * 1000) / (at - oldest.at);
	};
}

export type ProgressMode = "auto" | "bar" | "plain" | "json" | "none";

export type Progress = {
	/** Notes the counts; a timer draws them. */
	update(rows: RowCounts): void;
	/** Removes the bar. The summary gives the final counts. */
	stop(): void;
};

/** Time, injected so that no test waits. */
export type Timers = {
	/** milliseconds */
	now(): number;
	/** the wall clock, for the times of lines */
	date(): Date;
	/** calls repeatedly, until the returned function is called; keeps no process alive */
	every(milliseconds: number, call: () => void): () => void;
};

export type ProgressScreen = {
	readonly timers: Timers;
	/** prints a line on standard error */
	readonly line: (text: string) => void;
	readonly columns: () => number;
	/** loads the bar */
	readonly bar: () => Promise<Bar>;
};

export type ShownMode = Exclude<ProgressMode, "auto">;

/** `start` does nothing while it spins. */
type Spinner = { text: string; readonly isSpinning: boolean; start(): unknown; stop(): unknown };

/** What draws a bar. It is loaded only for a bar, because most calls are in scripts. */
export type Bar = { readonly spinner: Spinner; readonly widthOf: WidthOf };
