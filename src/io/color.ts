/** Marks text for a terminal. Without colour each function gives its text back as it is. */
export type Style = {
	readonly bold: (text: string) => string;
	readonly dim: (text: string) => string;
	readonly red: (text: string) => string;
	readonly green: (text: string) => string;
	readonly yellow: (text: string) => string;
	readonly cyan: (text: string) => string;
};

const same = (text: string): string => text;
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

export type ColorQuestion = {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** whether the stream is a terminal */
	readonly terminal: boolean;
	/** false when `--no-color` was given */
	readonly wanted: boolean;
};

/**
 * Whether a stream gets colour. Neither chalk nor ora reads `NO_COLOR`, so it is decided here, once.
 *
 * `NO_COLOR` wins over `FORCE_COLOR`: colour where none is wanted does more harm than none where it is.
 */
export function hasColor({ env, terminal, wanted }: ColorQuestion): boolean {
	if (!wanted || (env["NO_COLOR"] ?? "") !== "") return false;
	const force = env["FORCE_COLOR"];
	if (force !== undefined) return force !== "0" && force !== "false";
	return terminal && env["TERM"] !== "dumb";
}

/** The styles of a terminal. Chalk is loaded only when there is colour: most calls are in scripts. */
export async function colorStyle(): Promise<Style> {
	const { Chalk } = await import("chalk");
	// Level 1, the sixteen colours that every terminal has and themes its own way. Chalk would look at the process.
	const chalk = new Chalk({ level: 1 });
	return {
		bold: (text) => chalk.bold(text),
		dim: (text) => chalk.dim(text),
		red: (text) => chalk.red(text),
		green: (text) => chalk.green(text),
		yellow: (text) => chalk.yellow(text),
		cyan: (text) => chalk.cyan(text),
	};
}
