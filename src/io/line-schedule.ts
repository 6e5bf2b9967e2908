import type { ProgressState } from "./progress-lines.ts";

/** 5 s between the lines of a log: an hour has 720 lines. */
const LINE_MS = 5000;

/** 1 s: what is done within it needs no words. */
export const SILENCE_MS = 1000;

/** 5 s in a pipe that no one asked lines for: cron mails whatever is printed there, so a short command prints nothing. */
export const PIPE_SILENCE_MS = LINE_MS;

/** Decides when a log gets a line of progress. */
export class LineSchedule {
	/** when the last line or message was written */
	#written: number;
	/** when the last line of progress was written, or the rows began */
	#line: number;
	#shown: string | undefined;
	readonly #silence: number;

	/**
	 * @param now milliseconds
	 * @param silence milliseconds after which work without rows is named
	 */
	constructor(now: number, silence = SILENCE_MS) {
		this.#silence = silence;
		this.#written = this.#line = now;
	}

	/** Rows begin: their first line comes after five seconds, so that a short run has none. */
	begin(now: number): void {
		this.#line = now;
	}

	/** Something else was written. */
	wrote(now: number): void {
		this.#written = now;
	}

	/** Whether a line is due. Without rows, a piece of work that was not named yet is named after a silence. */
	isDue(state: ProgressState, now: number): boolean {
		const { activity } = state;
		const shown = `${activity?.state} ${activity?.what} ${activity?.again?.attempt}`;
		const isNew = state.rows === undefined && shown !== this.#shown;
		const due = isNew ? now - this.#written >= this.#silence : now - this.#line >= LINE_MS;
		if (!due) return false;
		this.#shown = shown;
		this.#line = this.#written = now;
		return true;
	}
}
