import type { ShownChange } from "./shown-change.ts";
import { changeCsv, changeCsvHead } from "./change-csv.ts";
import { changeMarkdown, changeMarkdownHead } from "./change-markdown.ts";
import { changeText, type Marks } from "./change-text.ts";

/** How changes are written in one format. */
type Formatting = {
	/** for what, as the help of `--format` says it */
	readonly use: string;
	/** the lines before the first change */
	readonly head?: string;
	/** @param longest characters of a value on a terminal */
	readonly change: (change: ShownChange, marks: Marks, longest: number) => string;
	/** the totals after the last change; absent in data, whose head is also written where there is no change */
	readonly totals?: (lines: readonly string[]) => string;
};

/** Every format in which a dry run shows changes, by its name in `--format`. */
export const CHANGE_FORMATS = {
	text: { use: "for people", change: changeText, totals: (lines) => `${lines.join("\n")}\n` },
	csv: { use: "for a spreadsheet", head: changeCsvHead, change: changeCsv },
	md: {
		use: "a Markdown table",
		head: changeMarkdownHead,
		change: changeMarkdown,
		totals: (lines) => `${lines.join("\n\n")}\n`,
	},
} as const satisfies Readonly<Record<string, Formatting>>;

export type ChangeFormat = keyof typeof CHANGE_FORMATS;

export function formatting(format: ChangeFormat): Formatting {
	return CHANGE_FORMATS[format];
}
