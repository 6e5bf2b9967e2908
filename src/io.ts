import type { Activity } from "./activity.ts";
import { Display } from "./io/display.ts";
import { openLog, type Output, writerOn } from "./io/writer.ts";
import { reason } from "./errors.ts";
import { redactor, resultRedactor } from "./text/redactor.ts";
import { showLines, withoutWorkflowCommands } from "./text/show.ts";
import type { Progress, ProgressMode, Timers } from "./io/measured.ts";
import {
	barOn,
	canDraw,
	colorStyle,
	hasColor,
	type Input,
	plainStyle,
	progressMode,
	readAnswer,
	type Style,
} from "./io/terminal.ts";

export type { Style } from "./io/terminal.ts";
export type { Progress, Timers } from "./io/measured.ts";

type IoSources = {
	readonly stdin: Input;
	readonly stdout: Output;
	readonly stderr: Output;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly timers?: Timers;
};

/** The program's streams as a value. Every text passes the redactor, so that the key is never printed. */
export type Io = Readonly<ReturnType<typeof createIo>>;

/** The options of every command that say how it prints. */
type IoOptions = {
	readonly quiet?: boolean | undefined;
	readonly debug?: boolean | undefined;
	readonly color?: boolean | undefined;
	readonly progress?: ProgressMode | undefined;
	/** path of a file that gets messages and progress, whatever `quiet` says, and what begins there */
	readonly log?: { readonly path: string; readonly begins: string } | undefined;
};

export function createIo({ stdin, stdout, stderr, env, timers = realTimers }: IoSources) {
	const messageMasks: ((text: string) => string)[] = [];
	const resultMasks: ((text: string) => string)[] = [];
	const masked = (text: string): string => resultMasks.reduce((before, mask) => mask(before), text);
	const redact = (text: string): string => messageMasks.reduce((before, mask) => mask(before), text);
	let quiet = false;
	const errors = writerOn(stderr);
	let isJson = false;
	let log: ReturnType<typeof openLog> | undefined;
	let lastWords: (() => string) | undefined;
	const stderrIsTerminal = stderr.isTTY === true;
	const harmless = env["GITHUB_ACTIONS"] === "true" ? withoutWorkflowCommands : (text: string): string => text;
	const send = (text: string): void => void errors.write(redact(`${text}\n`));
	const write = (text: string): void => send(isJson ? text : harmless(text));
	const display = new Display({
		timers,
		line: write,
		columns: () => widthOf(stderr),
		bar: () => barOn(stderr),
	});
	const logged = (type: string, text: string): void => {
		const failure = log?.write(timers.date(), type, redact(text));
		if (failure !== undefined) message("error", `ragtag: ${failure}; the command goes on without it`);
	};
	/** The one place that all messages pass. */
	const message = (type: "note" | "error", text: string, isShown = true, sendLine = write): void => {
		logged(type, text);
		display.writes();
		if (!isShown) return;
		// A message is one line: a foreign text, such as the path of a file, begins no other.
		const shown = showLines(text, io.errStyle !== plainStyle).replaceAll("\n", String.raw`\x0a`);
		// The key is masked before the text is quoted, which may change its characters.
		sendLine(isJson ? JSON.stringify({ type, time: timers.date().toISOString(), text: redact(shown) }) : shown);
	};
	const results = writerOn(stdout);
	const out = (text: string): Promise<void> => {
		const shown = masked(text);
		if (stdout.isTTY === true && stderrIsTerminal) display.writes();
		// A pipe gets every byte. A terminal would obey control characters that a service has put into a name.
		return results.write(stdout.isTTY === true ? showLines(shown, io.style !== plainStyle) : shown);
	};

	const io = {
		/** A result, on standard output: unchanged in a pipe, safe on a terminal. Resolves when the stream takes more; never rejects. */
		out,
		/** A result that people read: as `out`, and in GitHub Actions no part of it is a command of the runner. */
		print: (text: string): Promise<void> => out(harmless(text)),
		/** A line on standard error, also with `--quiet`. */
		err: (text: string): void => message("error", text),
		/** A command of GitHub's runner, on standard error. No other text is one. */
		annotation: (text: string): void => message("error", text, true, send),
		/** A line on standard error: progress, a warning, a summary. Not with `--quiet`. */
		note: (text: string): void => message("note", text, !quiet),
		/** A line on standard error with `--debug` only. */
		debug: (text: string): void => (io.isDebugging ? message("note", text) : undefined),
		/** whether these lines are shown */
		isDebugging: false,
		stdin,
		stdinIsTerminal: stdin.isTTY === true,
		stdoutIsTerminal: stdout.isTTY === true,
		stderrIsTerminal,
		/** width of the terminal on standard output, or 80 */
		get columns(): number {
			return widthOf(stdout);
		},
		/** for text that goes to standard output; plain until `configure` has loaded colour */
		style: plainStyle,
		/** for text that goes to standard error */
		errStyle: plainStyle,
		/** the reader has closed the pipe of standard output, as `head` does; no failure */
		get stdoutClosed(): boolean {
			return results.closed;
		},
		/** why standard output or the file of `--log-file` could not be written (exit 74); undefined where both could */
		get outputFailure(): string | undefined {
			if (results.failure === undefined) return log?.failure;
			return `standard output could not be written: ${reason(results.failure)}`;
		},
		/** Shows from now on what the command is doing, after a second of silence. Undefined where it has not begun. */
		follow: (activity: () => Activity | undefined): void => display.follow(activity),
		/** Shows how far the rows are, until `stop`. */
		progress: (): Progress => display.rows(),
		/** A line on standard error that says how far the command is, also with `--quiet`. */
		status(): void {
			const text = display.status();
			if (text.startsWith("{")) write(text);
			else message("note", text);
		},
		/** Leaves the terminal to another program, such as a pager, until that ends: what Ctrl-C means is its business. */
		async lend<T>(use: Promise<T>): Promise<T> {
			io.isLent = true;
			return await use.finally(() => (io.isLent = false));
		},
		isLent: false,
		/** Says what a user must know who quits now. @param words the counts and the next command; undefined for none */
		beforeQuitting: (words: (() => string) | undefined): void => void (lastWords = words),
		/** These words, for the place that quits. */
		wordsBeforeQuitting: (): string | undefined => lastWords?.(),
		/** Asks on standard error and reads one line. @throws CliError (usage) if standard input is no terminal */
		ask: (question: string): Promise<string> =>
			display.paused(async () => {
				if (isJson) for (const line of question.split("\n")) message("note", line);
				else await errors.write(redact(`${harmless(question)} `));
				return readAnswer(stdin);
			}),
		/**
		 * Applies the options, and begins to show what the command is doing. It is asynchronous because it may load colour.
		 *
		 * @throws CliError (usage) if the log can't be opened
		 */
		async configure(options: IoOptions): Promise<void> {
			quiet = options.quiet ?? quiet;
			if (options.log !== undefined) {
				log = openLog(options.log.path);
				logged("begin", options.log.begins);
			}
			io.isDebugging = options.debug ?? io.isDebugging;
			isJson = options.progress === undefined ? isJson : options.progress === "json";
			const wanted = options.color ?? true;
			const pick = async (terminal: boolean): Promise<Style> =>
				hasColor({ env, terminal, wanted }) ? colorStyle() : plainStyle;
			[io.style, io.errStyle] = await Promise.all([pick(stdout.isTTY === true), pick(stderrIsTerminal)]);
			const { progress = "auto" } = options;
			const mode = progressMode(progress, { env, terminal: stderrIsTerminal && canDraw(stderr) });
			const isAsked = stderrIsTerminal || progress !== "auto";
			display.begin(quiet ? "none" : mode, isAsked, log === undefined ? undefined : (text) => logged("progress", text));
		},
		/**
		 * Masks a further key from now on, in messages and in results.
		 *
		 * In messages any six characters of it are masked. Results must not lose text that only looks like such a piece. A key that
		 * may also be a name is masked in messages alone, and only as a whole.
		 */
		hide(key: string, isCertain = true): void {
			messageMasks.push(isCertain ? redactor(key) : resultRedactor(key));
			if (isCertain) resultMasks.push(resultRedactor(key));
		},
		/** A text with the masks of `out`. Needed before a text is cut, because a mask does not find a key that was cut. */
		masked,
		/** Resolves when everything is written, or can't be written. */
		async flush(): Promise<void> {
			await results.flush();
			await errors.flush();
		},
		/** Ends the progress and the log. Messages are still printed. @param words of the log's last line */
		end(words: string): void {
			display.end();
			logged("end", words);
			log?.close();
		},
	};
	return io;
}

/** Columns. A terminal without a size (`script`, `expect`, `ssh -tt` from cron) says 0. */
const widthOf = (stream: Output): number => stream.columns || 80;

export const realTimers: Timers = {
	now: () => performance.now(),
	date: () => new Date(),
	every: (milliseconds, call) => {
		const timer = setInterval(call, milliseconds).unref();
		return () => clearInterval(timer);
	},
};
