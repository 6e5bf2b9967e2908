import { numberText } from "../text/words.ts";

/** How far a run is. */
export type ProgressState = {
	/** rows that have an outcome */
	readonly done: number;
	/** rows in all, where that is known */
	readonly total?: number | undefined;
	readonly failed: number;
	/** rows a second, where it is known */
	readonly rate?: number | undefined;
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

/** The line beside the spinner: bar, counts, rate, time left, failures. A narrow terminal gets no bar, and then fewer words. */
export function barLine(state: ProgressState, { width, unicode }: BarShape): string {
	const words = counts(state);
	const room = Math.min(LONGEST_BAR, width - words.length - 1);
	if (state.total !== undefined && state.total > 0 && room >= SHORTEST_BAR) {
		const full = Math.min(room, Math.floor((room * state.done) / state.total));
		const [mark, rest] = unicode ? ["█", "░"] : ["#", "-"];
		return `${mark.repeat(full)}${rest.repeat(room - full)} ${words}`;
	}
	// A line that wraps can't be redrawn in place.
	return words.slice(0, Math.max(0, width));
}

/** The line for a log. */
export function plainLine(state: ProgressState): string {
	return `progress: ${counts(state)}`;
}

/** The line that answers a request for the status. Before the first row, it has no counts. */
export function statusLine(phase: string, state: ProgressState | undefined): string {
	return state === undefined ? `status: ${phase}` : `status: ${phase}, ${counts(state)}`;
}

/** The line for a program that reads the progress on standard error. */
export function jsonLine({ done, total, failed, rate }: ProgressState): string {
	const rounded = rate === undefined ? null : Math.round(rate * 10) / 10;
	return JSON.stringify({ type: "progress", done, total: total ?? null, failed, rate: rounded });
}

function counts(state: ProgressState): string {
	const { done, total, failed, rate } = state;
	const words = [total === undefined ? `${numberText(done)} rows` : `${numberText(done)}/${numberText(total)} rows`];
	if (rate !== undefined) words.push(`${rate < 10 ? rate.toFixed(1) : numberText(Math.round(rate))}/s`);
	const left = secondsLeft(state);
	if (left !== undefined) words.push(`${duration(left)} left`);
	if (failed > 0) words.push(`${numberText(failed)} failed`);
	return words.join(", ");
}

function secondsLeft({ done, total, rate }: ProgressState): number | undefined {
	if (total === undefined || rate === undefined || rate <= 0 || done >= total) return undefined;
	return Math.ceil((total - done) / rate);
}

/** `12s`, `3m05s`, `2h07m`. */
function duration(seconds: number): string {
	if (seconds < 60) return `${seconds}s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
	return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}m`;
}

const two = (number: number): string => String(number).padStart(2, "0");
