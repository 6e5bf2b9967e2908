import type { OutputFlags, RunEnd } from "../../run-end.ts";

/** One output of a command that ends: a file that the user names. */
export type Output = {
	/** the flag that names its file */
	readonly flag: string;
	readonly path: (flags: OutputFlags) => string | undefined;
	/** the flags with this one, of that value */
	readonly given: (value: string) => OutputFlags;
	/** mode of a new file, before the user's mask */
	readonly mode: number;
	/**
	 * The text of the file.
	 *
	 * @param path as the user names it
	 * @param before the text of the file that is there, read only where it is asked for; undefined where there is none
	 */
	readonly text: (end: RunEnd, path: string, before: () => Promise<string | undefined>) => Promise<string>;
};

/** Other programs of the user's machine read these files: a CI server, an exporter of metrics. */
const FOR_ALL = 0o666;

/** Every output, in the order in which they are written. Each is loaded when it is asked for. */
export const OUTPUTS: readonly Output[] = [
	{
		flag: "--junit",
		path: ({ junit }) => junit,
		given: (junit) => ({ junit }),
		mode: FOR_ALL,
		text: async (end) => (await import("./junit.ts")).junitText(end),
	},
	{
		flag: "--metrics-file",
		path: ({ metricsFile }) => metricsFile,
		given: (metricsFile) => ({ metricsFile }),
		mode: FOR_ALL,
		text: async (end, _path, before) => (await import("./metrics.ts")).metricsText(end, await before()),
	},
];
