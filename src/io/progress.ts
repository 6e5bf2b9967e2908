import type { MeasuredProgress } from "./measured.ts";
import { barLine, jsonLine, plainLine, type ProgressState, type RowCounts } from "./progress-lines.ts";

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

/** Ten frames a second: fluent, at no noticeable cost. */
const FRAME_MS = 100;

/** 5 s between the lines of a log, so an hour has 720 lines. */
const LINE_MS = 5000;

/** 1 s: shorter work needs no progress. */
const SILENCE_S = 1;

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

/** Shows a progress until `stop` is called. */
export function showProgress(screen: ProgressScreen, measured: MeasuredProgress): { stop(): void } {
	const { mode, timers, line, unicode } = screen;
	if (mode === "none") return { stop: () => undefined };
	let spinner: Spinner | undefined;
	let isSpinning = false;
	let stopped = false;

	const spin = (state: ProgressState): void => {
		if (spinner === undefined) return;
		spinner.text = barLine(state, { width: screen.columns() - SPINNER_COLUMNS, unicode });
		if (!isSpinning) spinner.start();
		isSpinning = true;
	};
	const draw = (): void => {
		const { state } = measured;
		if (state === undefined || stopped) return;
		if (mode === "plain") line(plainLine(state, isoSeconds(timers.date()), unicode));
		else if (mode === "json") line(jsonLine(state, timers.date().toISOString()));
		else if (state.rows !== undefined || (state.activity?.seconds ?? 0) >= SILENCE_S) spin(state);
	};
	if (mode === "bar") {
		const begin = (loaded: Spinner): void => {
			spinner = loaded;
			draw();
		};
		// A run goes on without a bar that can't be loaded.
		screen.spinner().then(begin, () => undefined);
	}
	const cancel = timers.every(mode === "bar" ? FRAME_MS : LINE_MS, draw);
	return {
		stop: () => {
			if (stopped) return;
			stopped = true;
			cancel();
			spinner?.stop();
		},
	};
}

/** `2026-11-22T00:24:05Z`. */
export function isoSeconds(date: Date): string {
	return `${date.toISOString().slice(0, 19)}Z`;
}
