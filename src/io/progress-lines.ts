import type { Activity, WorkCount } from "../activity.ts";
import { movedText, numberText, rateText } from "../text/words.ts";
import { cutToWidth, type WidthOf } from "../text/show.ts";

/** The number of rows that have an outcome. */
export type RowCounts = {
	/** rows that have an outcome */
	readonly done: number;
	/** rows in all, where that is known */
	readonly total?: number | undefined;
	readonly failed: number;
};

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

type BarShape = {
	/** columns of the terminal that the line may take */
	readonly width: number;
	/** whether the terminal shows other characters than ASCII */
	readonly unicode: boolean;
	readonly widthOf: WidthOf;
};

/** Columns: a shorter bar shows nothing, and a longer one shows no more. */
const SHORTEST_BAR = 10;
const LONGEST_BAR = 40;

/** The marks of states in which rows are held up; without Unicode, the words say enough. */
const MARKS: Readonly<Partial<Record<Activity["state"], string>>> = {
	waiting: "⏸ ",
	paused: "⏸ ",
	slowed: "▼ ",
	outage: "✖ ",
	stopping: "■ ",
};

/** The line beside the spinner. A narrow terminal gets no bar, and then fewer words: a line that wraps can't be redrawn. */
export function barLine(state: ProgressState, { width, unicode, widthOf }: BarShape): string {
	const held = state.activity && MARKS[state.activity.state];
	const mark = unicode ? (held ?? "") : "";
	const parts = partsOf(state).map(({ text, rank }) => ({ text: written(text, unicode), rank }));
	const line = `${mark}${fitted(parts, width - widthOf(mark), widthOf)}`;
	const room = Math.min(LONGEST_BAR, width - widthOf(line) - 1);
	const { done, total } = state.rows ?? { done: 0 };
	if (held === undefined && total !== undefined && total > 0 && room >= SHORTEST_BAR) {
		const full = Math.min(room, Math.floor((room * done) / total));
		const [filled, rest] = unicode ? ["█", "░"] : ["#", "-"];
		return `${filled.repeat(full)}${rest.repeat(room - full)} ${line}`;
	}
	return cutToWidth(line, Math.max(0, width), widthOf);
}

/** A text with ASCII characters alone where the terminal may show no others. */
function written(text: string, unicode: boolean): string {
	return unicode
		? text
		: text
				.replaceAll("×", "x")
				.replaceAll("…", "...")
				.replaceAll(/[^ -~]/gu, "?");
}

/** The words of a line of a log. */
export function plainLine(state: ProgressState, unicode = false): string {
	return written(joined(partsOf(state)), unicode);
}

/** The line that answers a request for the status. @param phase instead of the state */
export function statusLine(state: ProgressState | undefined, phase?: string, unicode = false): string {
	if (state?.rows === undefined && phase !== undefined) return `status: ${phase}`;
	if (state === undefined) return "status: starting";
	if (phase !== undefined) return `status: ${phase}, ${plainLine({ ...state, activity: undefined }, unicode)}`;
	const isRunning = state.rows !== undefined && ["running", "slowed"].includes(state.activity?.state ?? "running");
	return `status: ${isRunning ? "running, " : ""}${plainLine(state, unicode)}`;
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

function partsOf(state: ProgressState): Part[] {
	const { rows, rate, bytesRate, left, activity } = state;
	const { parsing, bytes, bytesTotal } = activity ?? {};
	const counted = rows === undefined ? undefined : countsText(rows, !holdsUp(activity));
	const speed = rate === undefined || parsing !== undefined || holdsUp(activity) ? undefined : `${rateText(rate)}/s`;
	const named: readonly (readonly [string | undefined, number])[] =
		activity?.state === "slowed"
			? [[counted, 0], ...slowedParts(activity)]
			: [...stateParts(activity, rows), [counted, 2], [speed, 5]];
	const auto = holdsUp(activity) ? undefined : activity?.auto;
	const rest: readonly (readonly [string | undefined, number])[] = [
		[parsing === undefined ? undefined : `${numberText(parsing.running)} parsing`, 3],
		[bytes === undefined ? undefined : movedText(bytes, bytesTotal, bytesRate), 5],
		[auto === undefined ? undefined : `auto: ${rateText(auto)}/s`, 4],
		[left === undefined ? undefined : `${duration(left)} left`, 4],
		[rows === undefined || rows.failed === 0 ? undefined : `${numberText(rows.failed)} failed`, 3],
	];
	return [...named, ...rest].flatMap(([text, rank]) => (text === undefined ? [] : [{ text, rank }]));
}

/** Whether no row can get an outcome now, so that a rate and a share would only seem to stand still. */
function holdsUp(activity: Activity | undefined): boolean {
	return activity !== undefined && ["waiting", "paused", "outage", "stopping"].includes(activity.state);
}

function slowedParts({ rate, cause = "" }: Activity): (readonly [string | undefined, number])[] {
	const of = rate?.cap === undefined ? "" : ` of ${rateText(rate.cap)}/s`;
	return [
		[rate === undefined ? "slowed" : `${rateText(rate.now)}/s${of}`, 1],
		[`: ${cause}`, 6],
	];
}

function stateParts(
	activity: Activity | undefined,
	rows: RowCounts | undefined,
): (readonly [string | undefined, number])[] {
	if (activity === undefined) return [];
	const { state, seconds, of, next } = activity;
	const cause = causeText(activity);
	const why = cause === undefined ? undefined : `: ${cause}`;
	if (state === "outage") {
		return [
			[`outage ${clockText(seconds)}${of === undefined ? "" : ` of ${clockText(of)}`}`, 0],
			[why, 6],
			[next === undefined || next <= 0 ? undefined : `tried again in ${Math.ceil(next)} s`, 1],
		];
	}
	if (holdsUp(activity)) {
		const whole = of === undefined ? "" : ` of ${duration(Math.ceil(of))}`;
		return [
			[`${state} ${duration(Math.floor(seconds))}${whole}`, 0],
			[why, 6],
		];
	}
	if (state === "running" && rows !== undefined) return [[cause, 6]];
	return workParts(activity, rows);
}

/** What is checked or read, and how much of it came. Once rows advance, they show that it moves. */
function workParts(activity: Activity, rows: RowCounts | undefined): (readonly [string | undefined, number])[] {
	const { state, what, count, seconds } = activity;
	const cause = causeText(activity);
	const again: readonly [string | undefined, number] = [cause === undefined ? undefined : `: ${cause}`, 1];
	if (rows !== undefined && rows.done > 0) return [[state, 0], again];
	return [
		[state, 0],
		[what === undefined ? undefined : ` ${what}`, 6],
		cause === undefined ? [count === undefined ? undefined : `: ${countText(count)} so far`, 1] : again,
		[seconds < 1 ? undefined : duration(Math.floor(seconds)), 7],
	];
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
	if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
	return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}m`;
}

/** Seconds as a clock shows them: `0:41`, `15:00`, `1:02:03`. */
function clockText(seconds: number): string {
	const whole = Math.floor(seconds);
	const rest = `${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`;
	return whole < 3600 ? rest.replace(/^0/, "") : `${Math.floor(whole / 3600)}:${rest}`;
}

const two = (number: number): string => String(number).padStart(2, "0");

/** A part of a line. Where there is no room for all, the part with the highest number is left out first. */
type Part = { readonly text: string; readonly rank: number };

/** Parts as one line. A part that belongs to the one before it begins with a blank or a colon. */
function joined(parts: readonly Part[]): string {
	// The cause stands with its state: `waiting 9s of 14s: the service asked for it (429)`.
	return parts.map(({ text }, index) => (index === 0 || /^:? /.test(text) ? text : `  ${text}`)).join("");
}

/** As many parts as fit, as one line. The first one stays, and may be too long. */
function fitted(parts: readonly Part[], width: number, widthOf: WidthOf): string {
	let kept = parts;
	while (kept.length > 1 && widthOf(joined(kept)) > width) {
		const worst = Math.max(...kept.slice(1).map(({ rank }) => rank));
		kept = kept.filter(({ rank }, index) => index === 0 || rank !== worst);
	}
	return joined(kept);
}
