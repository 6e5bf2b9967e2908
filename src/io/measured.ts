import type { Activity } from "../activity.ts";
import type { ProgressState, RowCounts } from "./progress-lines.ts";
import type { WidthOf } from "../text/show.ts";

/** 15 s: long enough for a steady rate, short enough to show an outage. */
const RATE_WINDOW_MS = 15_000;

/** 60 s: a time left that is computed from fewer seconds varies too much. */
const LEFT_WINDOW_MS = 60_000;

/** 1 s: a rate over a shorter time varies too much. */
const SHORTEST_MS = 1000;

/** States in which no row gets an outcome. A time left would be wrong by their length. */
const STANDING: ReadonlySet<Activity["state"]> = new Set(["waiting", "paused", "outage", "stopping"]);

/** The progress of one piece of work, with its measured rate and its time left. */
export class MeasuredProgress {
	readonly #now: () => number;
	#recent: (done: number) => number | undefined;
	#minute: (done: number) => number | undefined;
	readonly #moved: (bytes: number) => number | undefined;
	/** whether it stood when it was shown last, and the cap then */
	#stood = false;
	#cap: number | undefined;
	#rows: RowCounts | undefined;

	/** @param now milliseconds */
	constructor(now: () => number) {
		this.#now = now;
		this.#recent = rateMeter(now, RATE_WINDOW_MS);
		this.#minute = rateMeter(now, LEFT_WINDOW_MS);
		this.#moved = rateMeter(now, RATE_WINDOW_MS);
	}

	update(rows: RowCounts): void {
		// The rate counts from the first counts: a resumed run begins with rows that are done.
		if (this.#rows === undefined) {
			this.#recent(rows.done);
			this.#minute(rows.done);
		}
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
		this.#beginAnew(activity, done);
		const [rate, steady] = [this.#recent(done), this.#minute(done)];
		const bytesRate = activity?.bytes === undefined ? undefined : this.#moved(activity.bytes);
		const isMoving = rate !== undefined && rate > 0 && (activity === undefined || !STANDING.has(activity.state));
		return { rows, rate, bytesRate, left: isMoving ? secondsLeft({ ...rows, done }, steady) : undefined, activity };
	}

	/** After a wait, an outage or a pause, and at another cap, the time before says nothing of the time left. */
	#beginAnew(activity: Activity | undefined, done: number): void {
		const stands = activity !== undefined && STANDING.has(activity.state);
		if ((this.#stood && !stands) || activity?.cap !== this.#cap) {
			[this.#recent, this.#minute] = [rateMeter(this.#now, RATE_WINDOW_MS), rateMeter(this.#now, LEFT_WINDOW_MS)];
			this.#recent(done);
			this.#minute(done);
		}
		[this.#stood, this.#cap] = [stands, activity?.cap];
	}
}

function secondsLeft({ done, total }: RowCounts, rate: number | undefined): number | undefined {
	if (total === undefined || rate === undefined || rate <= 0 || done >= total) return undefined;
	return Math.ceil((total - done) / rate);
}

/**
 * Rows a second over the last milliseconds of a window. Each call gives the rows that are done so far.
 *
 * @param now milliseconds
 */
function rateMeter(now: () => number, window: number): (done: number) => number | undefined {
	let samples: { readonly at: number; readonly done: number }[] = [];
	return (done) => {
		const at = now();
		// The newest sample before the window stays, as the window begins there.
		const begin = samples.findLastIndex((sample) => at - sample.at >= window);
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
	readonly unicode: boolean;
	/** loads the bar */
	readonly bar: () => Promise<Bar>;
};

export type ShownMode = Exclude<ProgressMode, "auto">;

type Spinner = { text: string; start(): unknown; stop(): unknown };

/** What draws a bar. It is loaded only for a bar, because most calls are in scripts. */
export type Bar = { readonly spinner: Spinner; readonly widthOf: WidthOf };
