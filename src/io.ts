import { readAnswer, type Input } from "./io/input.ts";
import { colorStyle, hasColor, plainStyle, type Style } from "./io/color.ts";
import {
	progressMode,
	startProgress,
	type Progress,
	type ProgressMode,
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

/** The program's streams as a value. Text of every kind passes the redactor: the key is printed nowhere. */
export type Io = {
	/** A result, on standard output: as it stands in a pipe, harmless on a terminal. Resolves when more may be written; never rejects. */
	out(text: string): Promise<void>;
	/** A line on standard error that is always there. */
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
	/** for text that goes to standard output; plain until `configure` has loaded colour */
	readonly style: Style;
	/** for text that goes to standard error */
	readonly errStyle: Style;
	/** the reader of standard output has gone, as `head` does: no failure */
	readonly stdoutClosed: boolean;
	/** standard output could not be written: exit 74 */
	readonly outputFailed: boolean;
	/** why `outputFailed` */
	readonly outputError: unknown;
	progress(mode: ProgressMode): Progress;
	/** A line on standard error that says how far the run is, also with `--quiet`. */
	status(phase?: string): void;
	/** Asks on standard error and reads one line. A usage error where standard input is no terminal. */
	ask(question: string, signal?: AbortSignal): Promise<string>;
	/** Sets what the options say. Loads colour if there is any, so it is awaited. */
	configure(options: { readonly quiet?: boolean; readonly debug?: boolean; readonly color?: boolean }): Promise<void>;
	/**
	 * Masks a key from now on, in messages and in results; with several, each.
	 *
	 * A message loses any six characters of it, and a result must not lose what only looks like them. What may be a name as
	 * well is masked in messages alone, and whole.
	 */
	hide(key: string, isCertain?: boolean): void;
	/** What `out` makes of a text: for what is cut before it is printed, as a mask finds no key that was cut. */
	masked(text: string): string;
	/** Resolves when everything is written, or never will be. */
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
	const line = (text: string): void => void errors.write(redact(`${showLines(text, errStyle !== plainStyle)}\n`));
	const note = (text: string): void => (quiet ? undefined : line(text));
	const results = new Writer(stdout, () => note("the reader of standard output has gone; going on without it"));
	const stderrIsTerminal = stderr.isTTY === true;
	const status = new Status(timers);

	return {
		out: (text) => {
			const shown = masked(text);
			// A pipe gets every byte as it is; a terminal would obey what a service has put into a name.
			return results.write(stdout.isTTY === true ? showLines(shown, style !== plainStyle) : shown);
		},
		err: line,
		note,
		debug: (text) => (debugging ? line(text) : undefined),
		stdin,
		async readInput() {
			const chunks: Buffer[] = [];
			for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
			return Buffer.concat(chunks).toString("utf8");
		},
		stdinIsTerminal: stdin.isTTY === true,
		stdoutIsTerminal: stdout.isTTY === true,
		stderrIsTerminal,
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
		progress: (mode) => {
			const shown = progressMode(mode, { env, terminal: stderrIsTerminal && canDraw(stderr) });
			const progress = startProgress({
				mode: quiet ? "none" : shown,
				timers,
				line: note,
				columns: () => widthOf(stderr),
				unicode: /utf-?8/i.test(env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || ""),
				spinner: () => spinnerOn(stderr),
			});
			return status.watch(progress, shown);
		},
		status: (phase) => line(status.line(phase)),
		async ask(question, signal) {
			await errors.write(redact(`${question} `));
			return readAnswer(stdin, signal);
		},
		async configure(options) {
			quiet = options.quiet ?? quiet;
			debugging = options.debug ?? debugging;
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

/** Columns. A terminal that nobody gave a size (`script`, `expect`, `ssh -tt` from cron) says 0. */
const widthOf = (stream: Output): number => stream.columns || 80;

/** Ora counts the lines to clear by dividing by the terminal's columns: at 0 of them it clears for ever. */
const canDraw = (stream: Output): boolean => "cursorTo" in stream && stream.columns !== 0;

/**
 * Ora on a stream, with its reading of the process turned off: it is silent when `CI` is set, takes over standard input,
 * and installs signal handlers to bring the cursor back. While it spins it draws itself anew below whatever is written.
 */
async function spinnerOn(stream: Output): Promise<Spinner> {
	const { default: ora } = await import("ora");
	return ora({ stream, isEnabled: true, color: false, discardStdin: false, hideCursor: false, interval: 100 });
}

const realTimers: Timers = {
	now: () => performance.now(),
	every: (milliseconds, call) => {
		const timer = setInterval(call, milliseconds).unref();
		return () => clearInterval(timer);
	},
};
