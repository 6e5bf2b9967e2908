import { barLine, jsonLine, plainLine, type ProgressState } from "./progress-lines.ts";

export type ProgressMode = "auto" | "bar" | "plain" | "json" | "none";

export type Progress = {
	/** Notes the state; a timer draws it. */
	update(state: ProgressState): void;
	/** Removes the bar. The summary gives the final counts. */
	stop(): void;
};

/** Time, injected so that no test waits. */
export type Timers = {
	/** milliseconds */
	now(): number;
	/** calls repeatedly, until the returned function is called; keeps no process alive */
	every(milliseconds: number, call: () => void): () => void;
};

export type ProgressScreen = {
	readonly mode: "bar" | "plain" | "json" | "none";
	readonly timers: Timers;
	/** prints a line on standard error */
	readonly line: (text: string) => void;
	readonly columns: () => number;
	readonly unicode: boolean;
	/** loads the spinner */
	readonly spinner: () => Promise<Spinner>;
};

export type Spinner = { text: string; start(): unknown; stop(): unknown };

/** Ten frames a second: fluent, and of no cost. */
const FRAME_MS = 100;

/** 5 s between the lines of a log: an hour has 720 lines. */
const LINE_MS = 5000;

/** The columns of the spinner, of the space after it, and the terminal's last column. */
const SPINNER_COLUMNS = 3;

/** The form that is shown: a bar only if it can be drawn, and lines in CI, which may claim to be a terminal. */
export function progressMode(
	mode: ProgressMode,
	{ env, terminal }: { readonly env: Readonly<Record<string, string | undefined>>; readonly terminal: boolean },
): ProgressScreen["mode"] {
	if (mode === "bar") return terminal ? "bar" : "plain";
	if (mode !== "auto") return mode;
	const inCi = (env["CI"] ?? "") !== "" && env["CI"] !== "false";
	return terminal && !inCi && env["TERM"] !== "dumb" ? "bar" : "plain";
}

export function startProgress(screen: ProgressScreen): Progress {
	const { mode, timers, line } = screen;
	if (mode === "none") return { update: () => undefined, stop: () => undefined };
	const measured = rateMeter(() => timers.now());
	let state: ProgressState | undefined;
	let spinner: Spinner | undefined;
	let stopped = false;

	const shown = (): ProgressState | undefined => state && { ...state, rate: state.rate ?? measured(state.done) };
	const draw = (): void => {
		const current = shown();
		if (current === undefined) return;
		if (mode === "plain") line(plainLine(current));
		else if (mode === "json") line(jsonLine(current));
		else if (spinner !== undefined) {
			const { columns, unicode } = screen;
			spinner.text = barLine(current, { width: columns() - SPINNER_COLUMNS, unicode });
		}
	};
	if (mode === "bar") {
		const begin = (loaded: Spinner): void => {
			if (stopped) return;
			spinner = loaded;
			draw();
			spinner.start();
		};
		// A run goes on without a bar that can't be loaded.
		screen.spinner().then(begin, () => undefined);
	}
	const cancel = timers.every(mode === "bar" ? FRAME_MS : LINE_MS, draw);
	return {
		update: (next) => {
			// The rate counts from the first state: a resumed run begins with rows that are done.
			if (state === undefined) measured(next.done);
			state = next;
		},
		stop: () => {
			if (stopped) return;
			stopped = true;
			cancel();
			spinner?.stop();
		},
	};
}

/** 15 s: long enough for a steady rate, short enough to show an outage. */
const WINDOW_MS = 15_000;

/** 1 s: a rate over a shorter time jumps about. */
const SHORTEST_MS = 1000;

/**
 * Rows a second over the last 15 seconds. Each call gives the rows that are done so far.
 *
 * @param now milliseconds
 */
export function rateMeter(now: () => number): (done: number) => number | undefined {
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
