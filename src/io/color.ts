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
