import type { ProgressState } from "./progress-lines.ts";

/** 5 s between the lines of a log: an hour has 720 lines. */
const LINE_MS = 5000;

/** 1 s: what is done within it needs no words. */
export const SILENCE_MS = 1000;

/** Decides when a log gets a line of progress. */
export class LineSchedule {
	/** when the last line or message was written */
	#written: number;
	/** when the last line of progress was written, or the rows began */
	#line: number;
	#shown: string | undefined;

	/** @param now milliseconds */
	constructor(now: number) {
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

	/** Whether a line is due. Without rows, a piece of work that was not named yet is named after a second of silence. */
	isDue(state: ProgressState, now: number): boolean {
		const { activity } = state;
		const shown = `${activity?.state} ${activity?.what} ${activity?.again?.attempt}`;
		const isNew = state.rows === undefined && shown !== this.#shown;
		const due = isNew ? now - this.#written >= SILENCE_MS : now - this.#line >= LINE_MS;
		if (!due) return false;
		this.#shown = shown;
		this.#line = this.#written = now;
		return true;
	}
}
