import type { App } from "../../app.ts";
import { changeCsv, changeCsvHead } from "../../report/changes/change-csv.ts";
import { changeLine } from "../../report/changes/change-line.ts";
import { changeMarkdown, changeMarkdownHead } from "../../report/changes/change-markdown.ts";
import { changeText } from "../../report/changes/change-text.ts";
import type { ChangeFormat, ShownChange } from "../../report/changes/shown-change.ts";
import type { ChangeTally } from "../../report/changes/tally.ts";

/** Prints changes as they are found. */
export type ChangePrinter = {
	change(change: ShownChange): Promise<void>;
	/** when all were shown */
	end(tally: ChangeTally): Promise<void>;
};

/** Characters of a value on a terminal; in a pipe it stands as it is. */
const LONGEST = 200;

export function changePrinter(format: ChangeFormat | "json", { io }: App): ChangePrinter {
	const totals = (tally: ChangeTally): string => [tally.text(), tally.removedText()].filter(Boolean).join("\n");
	let isBegun = false;
	const begin = async (head: string): Promise<void> => {
		if (!isBegun) await io.out(head);
		isBegun = true;
	};
	switch (format) {
		case "json":
			return { change: (change) => io.out(changeLine(change)), end: async () => undefined };
		case "csv":
			return {
				change: async (change) => {
					await begin(changeCsvHead);
					await io.out(changeCsv(change));
				},
				end: async (tally) => {
					// A sheet without a line is still a sheet; the totals would be a line of it.
					await begin(changeCsvHead);
					io.note(totals(tally));
				},
			};
		case "md":
			return {
				change: async (change) => {
					await begin(changeMarkdownHead);
					await io.out(changeMarkdown(change));
				},
				end: (tally) => io.out(`${isBegun ? "\n" : ""}${totals(tally).replaceAll("\n", "\n\n")}\n`),
			};
		case "text": {
			const longest = io.stdoutIsTerminal ? LONGEST : Number.POSITIVE_INFINITY;
			return {
				change: (change) => {
					isBegun = true;
					return io.out(changeText(change, io.style, longest));
				},
				end: (tally) => io.out(`${isBegun ? "\n" : ""}${totals(tally)}\n`),
			};
		}
	}
}
