import type { Activity } from "../activity.ts";
import { MeasuredProgress, type Bar, type Progress, type ProgressScreen, type ShownMode } from "./measured.ts";
import { barLine, isoSeconds, jsonLine, plainLine, type ProgressState, statusLine } from "./progress-lines.ts";

/** Ten frames a second: fluent, and of no cost. */
const FRAME_MS = 100;

/**
 * 5 s between the lines of a log: an hour has 720 lines. A pipe that no one asked lines for has none before: cron mails
 * whatever is printed there, so a short command prints nothing.
 */
const LINE_MS = 5000;

/** 1 s: what is done within it needs no words. */
const SILENCE_MS = 1000;

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
	#mode: ShownMode = "plain";
	#log: ((text: string) => void) | undefined;
	#activity: (() => Activity | undefined) | undefined;
	#rows: MeasuredProgress | undefined;
	#isFinishing = false;
	#isPaused = false;
	#cancel: (() => void) | undefined;
	#isLoading = false;
	#bar: Bar | undefined;
	/** when another text was written last */
	#written: number;
	/** when the last line of progress was written, or the rows began */
	#line: number;
	/** the piece of work that was named last */
	#named: string | undefined;
	/** milliseconds after which work without rows is named */
	#silence = SILENCE_MS;

	constructor(screen: ProgressScreen) {
		this.#screen = screen;
		this.#written = this.#line = screen.timers.now();
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
		this.#mode = mode;
		this.#written = this.#line = this.#screen.timers.now();
		this.#silence = isAsked ? SILENCE_MS : LINE_MS;
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
		// Their first line comes after five seconds, so that a short run has none.
		this.#line = timers.now();
		return {
			update: (counts) => rows.update(counts),
			stop: () => {
				if (this.#rows !== rows) return;
				this.#isFinishing = true;
				this.#erase();
			},
		};
	}

	/** A message or a result is about to be written. */
	writes(): void {
		this.#written = this.#screen.timers.now();
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

	/** The line that answers a request for the status. */
	status(): string {
		const state = this.#state;
		// A program that reads JSON lines reads no other lines.
		if (this.#mode === "json" && state !== undefined) return jsonLine(state, this.#screen.timers.date().toISOString());
		return statusLine(state);
	}

	end(): void {
		this.#cancel?.();
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
		const { timers, line } = this.#screen;
		const now = timers.now();
		if (this.#mode === "bar") this.#spin(state, now);
		if (!this.#isDue(state, now)) return;
		this.#log?.(plainLine(state));
		const date = timers.date();
		if (this.#mode === "json") line(jsonLine(state, date.toISOString()));
		else if (this.#mode === "plain") line(`${isoSeconds(date)} progress: ${plainLine(state)}`);
	}

	/** Whether a line is due. Without rows, a piece of work that was not named yet is named after a silence. */
	#isDue({ rows, activity }: ProgressState, now: number): boolean {
		const named = `${activity?.state} ${activity?.what} ${activity?.again?.attempt}`;
		const isNew = rows === undefined && named !== this.#named;
		const isDue = isNew ? now - Math.max(this.#written, this.#line) >= this.#silence : now - this.#line >= LINE_MS;
		if (isDue) [this.#named, this.#line] = [named, now];
		return isDue;
	}

	#spin(state: ProgressState, now: number): void {
		const { columns, bar: load } = this.#screen;
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
		spinner.text = barLine(state, columns() - SPINNER_COLUMNS, widthOf);
		spinner.start();
	}

	#erase(): void {
		if (this.#bar?.spinner.isSpinning === true) this.#bar.spinner.stop();
	}
}
