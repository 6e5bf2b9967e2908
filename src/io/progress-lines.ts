import type { Activity } from "../activity.ts";
import { numberText } from "../text/words.ts";

/** How many rows have an outcome. */
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
	/** seconds left, while rows get outcomes */
	readonly left?: number | undefined;
	readonly activity?: Activity | undefined;
};

export type BarShape = {
	/** columns of the terminal that the line may take */
	readonly width: number;
	/** whether the terminal shows other characters than ASCII */
	readonly unicode: boolean;
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
export function barLine(state: ProgressState, { width, unicode }: BarShape): string {
	const held = state.activity && MARKS[state.activity.state];
	const mark = unicode ? (held ?? "") : "";
	const words = fitted(partsOf(state), width - mark.length);
	const line = `${mark}${unicode ? words : words.replaceAll("×", "x")}`;
	const room = Math.min(LONGEST_BAR, width - line.length - 1);
	const { done, total } = state.rows ?? { done: 0 };
	if (held === undefined && total !== undefined && total > 0 && room >= SHORTEST_BAR) {
		const full = Math.min(room, Math.floor((room * done) / total));
		const [filled, rest] = unicode ? ["█", "░"] : ["#", "-"];
		return `${filled.repeat(full)}${rest.repeat(room - full)} ${line}`;
	}
	return line.slice(0, Math.max(0, width));
}

/** The line of a log. @param time in ISO form */
export function plainLine(state: ProgressState, time: string, unicode = false): string {
	const words = wordsOf(state);
	return `${time} progress: ${unicode ? words : words.replaceAll("×", "x")}`;
}

/** The line that answers a request for the status. @param phase instead of the state */
export function statusLine(state: ProgressState | undefined, phase?: string): string {
	if (state === undefined) return `status: ${phase ?? "starting"}`;
	if (phase !== undefined) return `status: ${phase}, ${wordsOf({ ...state, activity: undefined })}`;
	const isRunning = state.rows !== undefined && (state.activity?.state ?? "running") === "running";
	return `status: ${isRunning ? "running, " : ""}${wordsOf(state)}`;
}

/** The line for a program that reads the progress on standard error. @param time in ISO form */
export function jsonLine({ rows, rate, left, activity }: ProgressState, time: string): string {
	const { done = 0, total = null, failed = 0 } = rows ?? {};
	const { state = "running", cause = null, seconds = 0, of, rate: lowered } = activity ?? {};
	return JSON.stringify({
		type: "progress",
		time,
		state,
		cause,
		seconds: tenths(seconds),
		of_seconds: tenths(of),
		lowered_rate: tenths(lowered?.now),
		done,
		total,
		failed,
		rate: tenths(rate),
		seconds_left: left ?? null,
	});
}

const tenths = (value: number | undefined): number | null => (value === undefined ? null : Math.round(value * 10) / 10);

/** A part of a line. Where there is no room for all, the part with the highest number is left out first. */
type Part = { readonly text: string; readonly rank: number };

const wordsOf = (state: ProgressState): string => joined(partsOf(state));

function joined(parts: readonly Part[]): string {
	// The cause stands with its state: `waiting 9s of 14s: the service asked for it (429)`.
	return parts.map(({ text }, index) => (index === 0 || text.startsWith(": ") ? text : `  ${text}`)).join("");
}

function fitted(parts: readonly Part[], width: number): string {
	let kept = parts;
	while (joined(kept).length > width && kept.length > 1) {
		const worst = Math.max(...kept.map(({ rank }) => rank));
		kept = kept.filter(({ rank }) => rank !== worst);
	}
	return joined(kept);
}

function partsOf(state: ProgressState): Part[] {
	const { rows, rate, left, activity } = state;
	const counted = rows === undefined ? undefined : countsText(rows, !holdsUp(activity));
	const speed = rate === undefined || holdsUp(activity) ? undefined : `${rateText(rate)}/s`;
	const named: readonly (readonly [string | undefined, number])[] =
		activity?.state === "slowed"
			? [[counted, 0], ...slowedParts(activity)]
			: [...stateParts(activity, rows !== undefined), [counted, 2], [speed, 5]];
	const rest: readonly (readonly [string | undefined, number])[] = [
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
	const speed = rate === undefined ? "slowed" : `${rateText(rate.now)}/s of ${rateText(rate.cap)}/s`;
	return [
		[speed, 1],
		[`: slowed ${cause}`, 6],
	];
}

function stateParts(activity: Activity | undefined, hasRows: boolean): (readonly [string | undefined, number])[] {
	if (activity === undefined) return [];
	const { state, cause, seconds, of } = activity;
	const why = cause === undefined ? undefined : `: ${cause}`;
	if (state === "outage") {
		return [
			[`outage ${clockText(seconds)}${of === undefined ? "" : ` of ${clockText(of)}`}`, 0],
			[why, 6],
		];
	}
	if (state === "running" && hasRows) return [[cause, 6]];
	// A state that rows advance in needs no seconds: the rows show that it moves.
	const isMoving = hasRows && !holdsUp(activity);
	const time = isMoving ? "" : ` ${duration(Math.floor(seconds))}`;
	return [
		[`${state}${time}${of === undefined ? "" : ` of ${duration(Math.ceil(of))}`}`, 0],
		[why, 6],
	];
}

function countsText({ done, total }: RowCounts, hasShare: boolean): string {
	if (total === undefined) return `${numberText(done)} rows`;
	const share = hasShare && total > 0 ? ` ${Math.min(100, Math.floor((100 * done) / total))}%` : "";
	return `${numberText(done)}/${numberText(total)} rows${share}`;
}

function rateText(rate: number): string {
	return rate < 10 && !Number.isInteger(rate) ? rate.toFixed(1) : numberText(Math.round(rate));
}

/** `12s`, `3m05s`, `2h07m`. */
function duration(seconds: number): string {
	if (seconds < 60) return `${seconds}s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
	return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}m`;
}

/** `0:41`, `15:00`, `1:02:03`. */
function clockText(seconds: number): string {
	const whole = Math.floor(seconds);
	const rest = `${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`;
	return whole < 3600 ? rest.replace(/^0/, "") : `${Math.floor(whole / 3600)}:${rest}`;
}

const two = (number: number): string => String(number).padStart(2, "0");
