import { usageError } from "../errors.ts";
import type { Bar, ProgressMode, ShownMode } from "./measured.ts";
import type { Output } from "./writer.ts";

type Mark = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Marks text for a terminal. Without colour, each function gives its text back unchanged. */
export type Style = Readonly<Record<Mark, (text: string) => string>>;

const same = (text: string): string => text;
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

type ColorConditions = {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** whether the stream is a terminal */
	readonly terminal: boolean;
	/** false for `--no-color` */
	readonly wanted: boolean;
};

/**
 * Whether a stream gets colour. chalk and ora don't read `NO_COLOR`, so it is read here.
 *
 * `NO_COLOR` wins over `FORCE_COLOR`: unwanted colour does more harm than missing colour.
 */
export function hasColor({ env, terminal, wanted }: ColorConditions): boolean {
	if (!wanted || (env["NO_COLOR"] ?? "") !== "") return false;
	const force = env["FORCE_COLOR"];
	if (force !== undefined) return force !== "0" && force !== "false";
	return terminal && env["TERM"] !== "dumb";
}

/** The styles of a terminal. chalk is loaded only for colour, because most calls are in scripts. */
export async function colorStyle(): Promise<Style> {
	const { Chalk } = await import("chalk");
	// Level 1: the sixteen colours that every terminal has. Without a level, chalk would read the process.
	return new Chalk({ level: 1 });
}

/** The form that is shown: a bar only if it can be drawn, and lines in CI, which may claim to be a terminal. */
export function progressMode(
	mode: ProgressMode,
	{ env, terminal }: { readonly env: Readonly<Record<string, string | undefined>>; readonly terminal: boolean },
): ShownMode {
	if (mode === "bar") return terminal ? "bar" : "plain";
	if (mode !== "auto") return mode;
	const inCi = (env["CI"] ?? "") !== "" && env["CI"] !== "false";
	return terminal && !inCi && env["TERM"] !== "dumb" ? "bar" : "plain";
}

/** Whether ora can draw. It divides by the terminal's columns, and with 0 columns it clears lines for ever. */
export const canDraw = (stream: Output): boolean => "cursorTo" in stream && stream.columns !== 0;

/**
 * ora on a stream. Its use of the process is turned off: it would be silent if `CI` is set, take over standard input, and
 * install signal handlers to show the cursor again. While it spins, it redraws itself below other lines.
 */
export async function barOn(stream: Output): Promise<Bar> {
	const [{ default: ora }, { default: width }] = await Promise.all([import("ora"), import("string-width")]);
	const options = { isEnabled: true, color: false, discardStdin: false, hideCursor: false, interval: 100 } as const;
	const spinner = ora({ stream, spinner: "dots", ...options });
	return { spinner, widthOf: (text) => width(text) };
}

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Reads one line that the user types. The end of the input is an empty answer. */
export async function readAnswer(input: Input): Promise<string> {
	if (input.isTTY !== true) {
		throw usageError("confirmation is needed, and standard input is no terminal", "Answer with --yes.");
	}
	const { createInterface } = await import("node:readline");
	// Not as a terminal: the terminal itself edits the line then, and Ctrl-C stays a signal.
	const lines = createInterface({ input, terminal: false });
	try {
		return await new Promise<string>((resolve, reject) => {
			lines
				.once("line", resolve)
				.once("close", () => resolve(""))
				.once("error", reject);
		});
	} finally {
		lines.close();
	}
}
