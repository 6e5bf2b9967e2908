import type { Activity } from "./activity.ts";
import { readAnswer, type Input } from "./io/input.ts";
import { colorStyle, hasColor, plainStyle, type Style } from "./io/color.ts";
import {
	progressMode,
	showProgress,
	type Progress,
	type ProgressMode,
	type ProgressScreen,
	type Spinner,
	type Timers,
} from "./io/progress.ts";
import { Status } from "./io/status.ts";
import { Writer, type Output } from "./io/writer.ts";
import { redactor, resultRedactor } from "./text/redactor.ts";
import { showLines } from "./text/show.ts";

export type { Style } from "./io/color.ts";
export type { Progress, ProgressMode, Timers } from "./io/progress.ts";

export type IoSources = {
	readonly stdin: Input;
	readonly stdout: Output;
	readonly stderr: Output;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly timers?: Timers;
};

/** The program's streams as a value. Every text passes the redactor, so that the key is never printed. */
export type Io = {
	/** A result, on standard output: unchanged in a pipe, safe on a terminal. Resolves when the stream takes more; never rejects. */
	out(text: string): Promise<void>;
	/** A line on standard error, also with `--quiet`. */
	err(text: string): void;
	/** A line on standard error: progress, a warning, a summary. Not with `--quiet`. */
	note(text: string): void;
	/** A line on standard error with `--debug` only. */
	debug(text: string): void;
	readonly stdin: NodeJS.ReadableStream;
	/** the whole standard input as text */
	readInput(): Promise<string>;
	readonly stdinIsTerminal: boolean;
	readonly stdoutIsTerminal: boolean;
	readonly stderrIsTerminal: boolean;
	/** width of the terminal on standard output, or 80 */
	readonly columns: number;
	/** whether the locale has Unicode; otherwise the program adds only ASCII characters */
	readonly unicode: boolean;
	/** for text that goes to standard output; plain until `configure` has loaded colour */
	readonly style: Style;
	/** for text that goes to standard error */
	readonly errStyle: Style;
	/** the reader has closed the pipe of standard output, as `head` does; no failure */
	readonly stdoutClosed: boolean;
	/** standard output could not be written; exit 74 */
	readonly outputFailed: boolean;
	/** the reason for `outputFailed` */
	readonly outputError: unknown;
	/** Shows the progress of the rows, and the state of the command. */
	progress(mode: ProgressMode, activity?: () => Activity): Progress;
	/** A line on standard error with the progress of the run, also with `--quiet`. */
	status(phase?: string): void;
	/** Asks on standard error and reads one line. @throws CliError (usage) if standard input is no terminal */
	ask(question: string, signal?: AbortSignal): Promise<string>;
	/** Applies the options. It is asynchronous because it may load colour. */
	configure(options: {
		readonly quiet?: boolean;
		readonly debug?: boolean;
		readonly color?: boolean;
		readonly progress?: ProgressMode;
	}): Promise<void>;
	/**
	 * Masks a further key from now on, in messages and in results.
	 *
	 * In messages any six characters of it are masked. Results must not lose text that only looks like such a piece. A key that
	 * may also be a name is masked in messages alone, and only as a whole.
	 */
	hide(key: string, isCertain?: boolean): void;
	/** A text with the masks of `out`. Needed before a text is cut, because a mask does not find a key that was cut. */
	masked(text: string): string;
	/** Resolves when everything is written, or can't be written. */
	flush(): Promise<void>;
};

export function createIo({ stdin, stdout, stderr, env, timers = realTimers }: IoSources): Io {
	const messageMasks: ((text: string) => string)[] = [];
	const resultMasks: ((text: string) => string)[] = [];
	const masked = (text: string): string => resultMasks.reduce((before, mask) => mask(before), text);
	const redact = (text: string): string => messageMasks.reduce((before, mask) => mask(before), text);
	let quiet = false;
	let debugging = false;
	let style = plainStyle;
	let errStyle = plainStyle;
	const errors = new Writer(stderr);
	let isJson = false;
	const write = (text: string): void => void errors.write(redact(`${text}\n`));
	const message = (type: "note" | "error", text: string): void => {
		const shown = showLines(text, errStyle !== plainStyle);
		// The key is masked before the text is quoted, which may change its characters.
		write(isJson ? JSON.stringify({ type, time: timers.date().toISOString(), text: redact(shown) }) : shown);
	};
	const line = (text: string): void => message("error", text);
	const note = (text: string): void => (quiet ? undefined : message("note", text));
	const results = new Writer(stdout);
	const stderrIsTerminal = stderr.isTTY === true;
	const status = new Status(timers);
	const unicode = /utf-?8/i.test(env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "");

	return {
		out: (text) => {
			const shown = masked(text);
			// A pipe gets every byte. A terminal would obey control characters that a service has put into a name.
			return results.write(stdout.isTTY === true ? showLines(shown, style !== plainStyle) : shown);
		},
		err: line,
		note,
		debug: (text) => (debugging ? message("note", text) : undefined),
		stdin,
		async readInput() {
			const chunks: Buffer[] = [];
			for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
			return Buffer.concat(chunks).toString("utf8");
		},
		stdinIsTerminal: stdin.isTTY === true,
		stdoutIsTerminal: stdout.isTTY === true,
		stderrIsTerminal,
		unicode,
		get columns() {
			return widthOf(stdout);
		},
		get style() {
			return style;
		},
		get errStyle() {
			return errStyle;
		},
		get stdoutClosed() {
			return results.closed;
		},
		get outputFailed() {
			return results.failure !== undefined;
		},
		get outputError() {
			return results.failure;
		},
		progress: (mode, activity) => {
			const shown = progressMode(mode, { env, terminal: stderrIsTerminal && canDraw(stderr) });
			const measured = status.follow(shown, activity);
			const screen: ProgressScreen = {
				mode: quiet ? "none" : shown,
				timers,
				line: write,
				columns: () => widthOf(stderr),
				unicode,
				spinner: () => spinnerOn(stderr, unicode),
			};
			const progress = showProgress(screen, measured);
			const stop = (): void => {
				status.finish();
				progress.stop();
			};
			return { update: (rows) => measured.update(rows), stop };
		},
		status: (phase) => {
			const text = status.line(phase);
			if (text.startsWith("{")) write(text);
			else message("note", text);
		},
		async ask(question, signal) {
			if (isJson) message("note", question);
			else await errors.write(redact(`${question} `));
			return readAnswer(stdin, signal);
		},
		async configure(options) {
			quiet = options.quiet ?? quiet;
			debugging = options.debug ?? debugging;
			isJson = options.progress === undefined ? isJson : options.progress === "json";
			const wanted = options.color ?? true;
			const pick = async (terminal: boolean): Promise<Style> =>
				hasColor({ env, terminal, wanted }) ? colorStyle() : plainStyle;
			[style, errStyle] = await Promise.all([pick(stdout.isTTY === true), pick(stderrIsTerminal)]);
		},
		hide(key, isCertain = true) {
			messageMasks.push(isCertain ? redactor(key) : resultRedactor(key));
			if (isCertain) resultMasks.push(resultRedactor(key));
		},
		masked,
		async flush() {
			await results.flush();
			await errors.flush();
		},
	};
}

/** Columns. A terminal without a size (`script`, `expect`, `ssh -tt` from cron) says 0. */
const widthOf = (stream: Output): number => stream.columns || 80;

/** Whether ora can draw. It divides by the terminal's columns, and with 0 columns it clears lines for ever. */
const canDraw = (stream: Output): boolean => "cursorTo" in stream && stream.columns !== 0;

/**
 * ora on a stream. Its use of the process is turned off: it would be silent if `CI` is set, take over standard input, and
 * install signal handlers to show the cursor again. While it spins, it redraws itself below other lines.
 */
async function spinnerOn(stream: Output, unicode: boolean): Promise<Spinner> {
	const { default: ora } = await import("ora");
	const spinner = unicode ? "dots" : "line";
	return ora({ stream, spinner, isEnabled: true, color: false, discardStdin: false, hideCursor: false, interval: 100 });
}

export const realTimers: Timers = {
	now: () => performance.now(),
	date: () => new Date(),
	every: (milliseconds, call) => {
		const timer = setInterval(call, milliseconds).unref();
		return () => clearInterval(timer);
	},
};
