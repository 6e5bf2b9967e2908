import type { Activity } from "../activity.ts";
import { MeasuredProgress } from "./measured.ts";
import type { ProgressScreen, Timers } from "./progress.ts";
import { jsonLine, type ProgressState, statusLine } from "./progress-lines.ts";

/** The progress of the command, for a signal that asks for it. It works with every form of progress, and with none. */
export class Status {
	readonly #timers: Pick<Timers, "now" | "date">;
	#mode: ProgressScreen["mode"] = "plain";
	#measured: MeasuredProgress | undefined;
	#isFinishing = false;

	constructor(timers: Pick<Timers, "now" | "date">) {
		this.#timers = timers;
	}

	/** A piece of work begins. Gives its progress, which `finish` ends. */
	follow(mode: ProgressScreen["mode"], activity: (() => Activity) | undefined): MeasuredProgress {
		this.#mode = mode;
		this.#isFinishing = false;
		this.#measured = new MeasuredProgress(() => this.#timers.now(), activity);
		return this.#measured;
	}

	finish(): void {
		this.#isFinishing = true;
	}

	/** @param phase instead of the state */
	line(phase?: string): string {
		const state: ProgressState | undefined = this.#measured?.state;
		// A program that reads JSON lines reads no other lines.
		if (this.#mode === "json" && state !== undefined) return jsonLine(state, this.#timers.date().toISOString());
		return statusLine(state, phase ?? (this.#isFinishing ? "finishing" : undefined));
	}
}
