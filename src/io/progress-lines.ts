import type { Activity, WorkCount } from "../activity.ts";
import { movedText, numberText, rateText, twoDigits } from "../text/words.ts";
import { cutToWidth, type WidthOf } from "../text/show.ts";

/** The number of rows that have an outcome. */
export type RowCounts = Pick<WorkCount, "done" | "total"> & { readonly failed: number };

/** The progress of a command, and its state. */
export type ProgressState = {
	/** undefined before the first row */
	readonly rows?: RowCounts | undefined;
	/** rows a second over the last seconds, where it is known */
	readonly rate?: number | undefined;
	/** bytes of files a second */
	readonly bytesRate?: number | undefined;
	/** seconds left, while rows get outcomes */
	readonly left?: number | undefined;
	readonly activity?: Activity | undefined;
};

/** Columns: a shorter bar shows nothing, and a longer one shows no more. */
const SHORTEST_BAR = 10;
const LONGEST_BAR = 40;

/** Whether no row can get an outcome now, so that a rate, a share and a time left would only seem to stand still. */
export function isStanding(activity: Activity | undefined): boolean {
	return activity !== undefined && ["waiting", "paused", "outage", "stopping"].includes(activity.state);
}

/** The line beside the spinner. A narrow terminal gets no bar, and then fewer words: a line that wraps can't be redrawn. */
export function barLine(state: ProgressState, width: number, widthOf: WidthOf): string {
	const parts = partsOf(state);
	while (parts.length > 1 && widthOf(parts.join("  ")) > width) parts.pop();
	const line = parts.join("  ");
	const room = Math.min(LONGEST_BAR, width - widthOf(line) - 1);
	const { done, total = 0 } = state.rows ?? { done: 0 };
	if (isStanding(state.activity) || total === 0 || room < SHORTEST_BAR) return cutToWidth(line, width, widthOf);
	const full = Math.min(room, Math.floor((room * done) / total));
	return `${"█".repeat(full)}${"░".repeat(room - full)} ${line}`;
}

/** The words of a line of a log. */
export function plainLine(state: ProgressState): string {
	return partsOf(state).join("  ");
}

/** The line that answers a request for the status. */
export function statusLine(state: ProgressState | undefined): string {
	if (state === undefined) return "status: starting";
	const { state: doing = "running", cause } = state.activity ?? {};
	const isRunning = state.rows !== undefined && (doing === "slowed" || (doing === "running" && cause === undefined));
	return `status: ${isRunning ? "running, " : ""}${plainLine(state)}`;
}

/** `2026-11-22T00:24:05Z`. */
export function isoSeconds(date: Date): string {
	return `${date.toISOString().slice(0, 19)}Z`;
}

/** The line for a program that reads the progress on standard error. @param time in ISO form */
export function jsonLine({ rows, rate, left, activity }: ProgressState, time: string): string {
	const { done = 0, total = null, failed = 0 } = rows ?? {};
	const { state = "running", what = null, count, seconds = 0, of, next, rate: lowered, auto } = activity ?? {};
	const cause = (activity && causeText(activity)) ?? what;
	return JSON.stringify({
		type: "progress",
		time,
		state,
		cause,
		seconds: tenths(seconds),
		of_seconds: tenths(of),
		next_try_seconds: tenths(next ?? activity?.again?.seconds),
		lowered_rate: tenths(lowered?.now),
		auto_rate: tenths(auto),
		done,
		total,
		failed,
		rate: tenths(rate),
		seconds_left: left ?? null,
		what,
		read: count?.done ?? null,
		read_total: count?.total ?? null,
		parsing: activity?.parsing?.running ?? null,
		bytes: activity?.bytes ?? null,
		bytes_total: activity?.bytesTotal ?? null,
	});
}

const tenths = (value: number | undefined): number | null => (value === undefined ? null : Math.round(value * 10) / 10);

/** The parts of a line, the most important first: a narrow terminal leaves out the last ones. */
function partsOf({ rows, rate, bytesRate, left, activity }: ProgressState): string[] {
	const { parsing, bytes, bytesTotal, auto } = activity ?? {};
	const stands = isStanding(activity);
	const isSlowed = activity?.state === "slowed";
	const hidesRate = rate === undefined || parsing !== undefined || stands || isSlowed;
	const parts = [
		...(isSlowed ? [] : stateParts(activity, rows)),
		rows && countsText(rows, !stands),
		rows && rows.failed > 0 ? `${numberText(rows.failed)} failed` : undefined,
		isSlowed ? slowedText(activity) : undefined,
		hidesRate ? undefined : `${rateText(rate)}/s`,
		parsing && `${numberText(parsing.running)} parsing`,
		bytes === undefined ? undefined : movedText(bytes, bytesTotal, bytesRate),
		auto === undefined || stands ? undefined : `auto: ${rateText(auto)}/s`,
		left === undefined ? undefined : `${duration(left)} left`,
	];
	return parts.filter((part) => part !== undefined);
}

/** `31/s of 100/s: 429 at 61/s`. */
function slowedText({ rate, cause }: Activity): string {
	const of = rate?.cap === undefined ? "" : ` of ${rateText(rate.cap)}/s`;
	return withCause(rate === undefined ? "slowed" : `${rateText(rate.now)}/s${of}`, cause);
}

function stateParts(activity: Activity | undefined, rows: RowCounts | undefined): (string | undefined)[] {
	if (activity === undefined) return [];
	const { state, seconds, of, next, what, count } = activity;
	const cause = causeText(activity);
	if (state === "outage") {
		const again = next === undefined || next <= 0 ? undefined : `tried again in ${Math.ceil(next)} s`;
		return [withCause(`outage ${clockText(seconds)}${of === undefined ? "" : ` of ${clockText(of)}`}`, cause), again];
	}
	if (isStanding(activity)) {
		const whole = of === undefined ? "" : ` of ${duration(Math.ceil(of))}`;
		return [withCause(`${state} ${duration(Math.floor(seconds))}${whole}`, cause)];
	}
	if (rows !== undefined && (state === "running" || rows.done > 0)) {
		return [state === "running" ? cause : withCause(state, cause)];
	}
	// What is checked or read, and how much of it came.
	return [
		withCause(what === undefined ? state : `${state} ${what}`, cause ?? (count && `${countText(count)} so far`)),
		seconds < 1 ? undefined : duration(Math.floor(seconds)),
	];
}

function withCause(text: string, cause: string | undefined): string {
	return cause === undefined ? text : `${text}: ${cause}`;
}

/** Why it waits, and in a first connection when the next attempt follows. */
function causeText({ cause, again }: Activity): string | undefined {
	if (again === undefined) return cause;
	const wait = again.seconds > 0 ? ` in ${Math.ceil(again.seconds)} s` : "";
	return `trying again (${again.attempt})${wait}: ${cause}`;
}

/** `3,200`, `3,200 of 12,000`, `120,000 rows`. */
function countText({ done, total, unit }: WorkCount): string {
	const counted = total === undefined ? numberText(done) : `${numberText(done)} of ${numberText(total)}`;
	return unit === undefined ? counted : `${counted} ${unit}`;
}

function countsText({ done, total }: RowCounts, hasShare: boolean): string {
	if (total === undefined) return `${numberText(done)} rows`;
	const share = hasShare && total > 0 ? ` ${Math.min(100, Math.floor((100 * done) / total))}%` : "";
	return `${numberText(done)}/${numberText(total)} rows${share}`;
}

/** Whole seconds: `12s`, `3m05s`, `2h07m`. */
function duration(seconds: number): string {
	if (seconds < 60) return `${seconds}s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)}m${twoDigits(seconds % 60)}s`;
	return `${Math.floor(seconds / 3600)}h${twoDigits(Math.floor((seconds % 3600) / 60))}m`;
}

/** Seconds as a clock shows them: `0:41`, `15:00`, `1:02:03`. */
function clockText(seconds: number): string {
	const whole = Math.floor(seconds);
	const rest = `${twoDigits(Math.floor((whole % 3600) / 60))}:${twoDigits(whole % 60)}`;
	return whole < 3600 ? rest.replace(/^0/, "") : `${Math.floor(whole / 3600)}:${rest}`;
}
