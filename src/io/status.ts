import type { Progress, ProgressScreen, Timers } from "./progress.ts";
import { jsonLine, type ProgressState, statusLine } from "./progress-lines.ts";

type Point = { readonly at: number; readonly done: number };

/** How far the run is, for a signal that asks for it. It works with every form of progress, and with none. */
export class Status {
	readonly #timers: Pick<Timers, "now">;
	#mode: ProgressScreen["mode"] = "plain";
	#phase = "starting";
	#state: ProgressState | undefined;
	/** where the rate is counted from: a resumed run begins with rows that are done */
	#begin: Point | undefined;

	constructor(timers: Pick<Timers, "now">) {
		this.#timers = timers;
	}

	/** The same progress, with its updates noted here. */
	follow(progress: Progress, mode: ProgressScreen["mode"]): Progress {
		this.#mode = mode;
		this.#state = undefined;
		this.#begin = undefined;
		this.#phase = "starting";
		return {
			update: (state) => {
				this.#phase = "running";
				this.#state = state;
				this.#begin ??= { at: this.#timers.now(), done: state.done };
				progress.update(state);
			},
			stop: () => {
				this.#phase = "finishing";
				progress.stop();
			},
		};
	}

	/** @param phase instead of the noted one */
	line(phase: string = this.#phase): string {
		const state = this.#state && { ...this.#state, rate: this.#state.rate ?? this.#rate(this.#state) };
		// A program that reads JSON lines reads no other lines.
		return this.#mode === "json" && state !== undefined ? jsonLine(state) : statusLine(phase, state);
	}

	/** Rows a second since the beginning; undefined in the first second, when it would jump about. */
	#rate({ done }: ProgressState): number | undefined {
		if (this.#begin === undefined) return undefined;
		const seconds = (this.#timers.now() - this.#begin.at) / 1000;
		return seconds < 1 ? undefined : (done - this.#begin.done) / seconds;
	}
}
