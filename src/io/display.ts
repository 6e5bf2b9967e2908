import type { Activity } from "../activity.ts";
import { MeasuredProgress, type Bar, type Progress, type ProgressScreen, type ShownMode } from "./measured.ts";
import { barLine, isoSeconds, jsonLine, plainLine, type ProgressState, statusLine } from "./progress-lines.ts";

/** Ten frames a second: fluent, and of no cost. */
const FRAME_MS = 100;

/** The columns of the spinner, of the space after it, and the terminal's last column. */
const SPINNER_COLUMNS = 3;

/** States in which rows are sent. Others belong to what follows them, such as a verification. */
const OF_ROWS: ReadonlySet<Activity["state"]> = new Set([
	"running",
	"slowed",
	"waiting",
	"paused",
	"outage",
	"stopping",
]);

/** After the last row: its outputs are written. */
const FINISHING: Activity = { state: "running", cause: "finishing", seconds: 0 };

/**
 * Shows what the command is doing: how far its rows are, and after a second of silence what else takes its time. It is the
 * one place that does so, for all commands and for every form of progress.
 */
export class Display {
	readonly #screen: ProgressScreen;
	#lines: LineSchedule;
	readonly #logLines: LineSchedule;
	#mode: ShownMode = "plain";
	#log: ((text: string) => void) | undefined;
	#activity: (() => Activity | undefined) | undefined;
	#rows: MeasuredProgress | undefined;
	#isFinishing = false;
	#isPaused = false;
	#cancel: (() => void) | undefined;
	#isLoading = false;
	#bar: Bar | undefined;
	#isSpinning = false;
	/** when the terminal of the bar was written to last */
	#written: number;

	constructor(screen: ProgressScreen) {
		this.#screen = screen;
		this.#written = screen.timers.now();
		this.#lines = new LineSchedule(this.#written);
		this.#logLines = new LineSchedule(this.#written);
	}

	/** @param activity what the command is doing; undefined before it has begun */
	follow(activity: () => Activity | undefined): void {
		this.#activity = activity;
	}

	/**
	 * Begins to show it.
	 *
	 * @param isAsked whether the user asked for lines, or reads them on a terminal
	 * @param log takes lines of progress, too, whatever the mode is
	 */
	begin(mode: ShownMode, isAsked: boolean, log?: (text: string) => void): void {
		this.#erase();
		this.#cancel?.();
		this.#cancel = undefined;
		this.#mode = mode;
		this.#lines = new LineSchedule(this.#screen.timers.now(), isAsked ? SILENCE_MS : PIPE_SILENCE_MS);
		this.#log = log;
		if (mode === "none" && log === undefined) return;
		this.#cancel = this.#screen.timers.every(mode === "bar" ? FRAME_MS : SILENCE_MS, () => this.#draw());
	}

	/** The progress of rows, until its `stop` is called. */
	rows(): Progress {
		const { timers } = this.#screen;
		const rows = new MeasuredProgress(() => timers.now());
		this.#rows = rows;
		this.#isFinishing = false;
		this.#lines.begin(timers.now());
		this.#logLines.begin(timers.now());
		return {
			update: (counts) => rows.update(counts),
			stop: () => {
				if (this.#rows !== rows) return;
				this.#isFinishing = true;
				this.#erase();
			},
		};
	}

	/** A message or a result is about to be written. @param onBar whether to the terminal of the bar */
	writes(onBar: boolean, isLogged = false): void {
		const now = this.#screen.timers.now();
		if (isLogged) this.#logLines.wrote(now);
		if (!onBar) return;
		this.#written = now;
		this.#lines.wrote(now);
		// A bar of rows is drawn again below the text. Words about a silence are not needed any more.
		if (!this.#hasRows) this.#erase();
	}

	/** Draws nothing while a question is asked. */
	async paused<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
		this.#isPaused = true;
		this.#erase();
		try {
			return await ask();
		} finally {
			this.#isPaused = false;
			this.#written = this.#screen.timers.now();
		}
	}

	/** The line that answers a request for the status. @param phase instead of the state */
	status(phase?: string): string {
		const state = this.#state;
		// A program that reads JSON lines reads no other lines.
		if (this.#mode === "json" && state !== undefined) return jsonLine(state, this.#screen.timers.date().toISOString());
		const isFinished = this.#isFinishing && state?.rows !== undefined;
		return statusLine(state, phase ?? (isFinished ? "finishing" : undefined), this.#screen.unicode);
	}

	end(): void {
		this.#cancel?.();
		this.#cancel = undefined;
		this.#isPaused = true;
		this.#erase();
	}

	/** Whether the rows have outcomes to show, and are not done. */
	get #hasRows(): boolean {
		return !this.#isFinishing && this.#rows?.hasBegun === true;
	}

	/** undefined where there is nothing to show yet */
	get #state(): ProgressState | undefined {
		const activity = this.#activity?.();
		const isOfRows = !this.#isFinishing || activity === undefined || OF_ROWS.has(activity.state);
		const rows = isOfRows ? this.#rows?.state(activity) : undefined;
		if (rows === undefined) return activity === undefined ? undefined : { activity };
		return this.#isFinishing ? { rows: rows.rows, activity: FINISHING } : rows;
	}

	#draw(): void {
		const state = this.#state;
		if (state === undefined || this.#isPaused) return;
		const { timers, line, unicode } = this.#screen;
		const now = timers.now();
		if (this.#log !== undefined && this.#logLines.isDue(state, now)) {
			this.#log(plainLine(state, true));
		}
		if (this.#mode === "bar") this.#spin(state, now);
		else if (this.#mode !== "none" && this.#lines.isDue(state, now)) {
			const date = timers.date();
			if (this.#mode === "json") line(jsonLine(state, date.toISOString()));
			else line(`${isoSeconds(date)} progress: ${plainLine(state, unicode)}`);
		}
	}

	#spin(state: ProgressState, now: number): void {
		const { columns, unicode, bar: load } = this.#screen;
		if (!this.#hasRows && now - this.#written < SILENCE_MS) return;
		if (this.#bar === undefined) {
			// A run goes on without a bar that can't be loaded.
			if (!this.#isLoading)
				load()
					.then((loaded) => (this.#bar = loaded))
					.catch(() => undefined);
			this.#isLoading = true;
			return;
		}
		const { spinner, widthOf } = this.#bar;
		spinner.text = barLine(state, { width: columns() - SPINNER_COLUMNS, unicode, widthOf });
		if (!this.#isSpinning) spinner.start();
		this.#isSpinning = true;
	}

	#erase(): void {
		if (this.#isSpinning) this.#bar?.spinner.stop();
		this.#isSpinning = false;
	}
}

/** 5 s between the lines of a log: an hour has 720 lines. */
const LINE_MS = 5000;

/** 1 s: what is done within it needs no words. */
const SILENCE_MS = 1000;

/** 5 s in a pipe that no one asked lines for: cron mails whatever is printed there, so a short command prints nothing. */
const PIPE_SILENCE_MS = LINE_MS;

/** Decides when a log gets a line of progress. */
class LineSchedule {
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
