import type { WidthOf } from "../text/cut.ts";
import type { RowCounts } from "./progress-lines.ts";

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

export type Spinner = { text: string; start(): unknown; stop(): unknown };

/** What draws a bar. It is loaded only for a bar, because most calls are in scripts. */
export type Bar = { readonly spinner: Spinner; readonly widthOf: WidthOf };

/** The form that is shown: a bar only if it can be drawn, and lines in CI, which may claim to be a terminal. */
export function progressMode(
	mode: ProgressMode,
	{ env, terminal }: { readonly env: Readonly<Record<string, string | undefined>>; readonly terminal: boolean },
): ShownMode {
	if (mode === "bar") return terminal ? "bar" : "plain";
	if (mode !== "auto") return mode;
	const inCi = (env["CI"] ?? "") !== "" && env["CI"] !== "false";
	return terminal && !inCi && env["TERM"] !== "dumb" ? "bar" : "plain";
}
