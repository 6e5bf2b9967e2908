import type { WidthOf } from "../text/show.ts";
import type { RowCounts } from "./progress-lines.ts";
import type { Output } from "./writer.ts";

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

/** Whether ora can draw. It divides by the terminal's columns, and with 0 columns it clears lines for ever. */
export const canDraw = (stream: Output): boolean => "cursorTo" in stream && stream.columns !== 0;

/**
 * ora on a stream. Its use of the process is turned off: it would be silent if `CI` is set, take over standard input, and
 * install signal handlers to show the cursor again. While it spins, it redraws itself below other lines.
 */
export async function barOn(stream: Output, unicode: boolean): Promise<Bar> {
	const [{ default: ora }, { default: width }] = await Promise.all([import("ora"), import("string-width")]);
	const options = { isEnabled: true, color: false, discardStdin: false, hideCursor: false, interval: 100 } as const;
	const spinner = ora({ stream, spinner: unicode ? "dots" : "line", ...options });
	return { spinner, widthOf: (text) => width(text) };
}
