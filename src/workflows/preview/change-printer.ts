import type { App } from "../../app.ts";
import { changeFormat, type DryRunFlags } from "../../flags/change-flags.ts";
import type { ChangeTally, ShownChange, UndeclaredDocument } from "../../report/change-tally.ts";
import { changeWriter } from "../../report/changes.ts";

/** Characters of a value on a terminal; in a pipe it stands as it is. */
const LONGEST = 200;

/** A sink of changes that needs only their shown part. */
type ChangePrinter = {
	change(change: ShownChange): Promise<void>;
	undeclared(document: UndeclaredDocument): Promise<void>;
	end(tally: ChangeTally): Promise<void>;
	cut(tally: ChangeTally): Promise<void>;
};

/** Prints the changes of a dry run in the format that the flags choose, as they are found where the format allows that. */
export function changePrinter(
	flags: DryRunFlags & { readonly json?: boolean | undefined },
	{ io }: App,
): ChangePrinter {
	const format = changeFormat(flags);
	const longest = io.stdoutIsTerminal ? LONGEST : Number.POSITIVE_INFINITY;
	const writer = changeWriter(format, { marks: io.style, longest, limit: flags.limitCharacters });
	const print = async (text = ""): Promise<void> => {
		if (text !== "") await (format === "csv" || format === "json" ? io.out(text) : io.print(text));
	};
	return {
		change: (change) => print(writer.change(change)),
		undeclared: (document) => print(writer.undeclared(document)),
		end: async (tally) => {
			await print(writer.end(tally));
			// A table has no place for them.
			if (format === "csv") for (const text of tally.texts()) io.note(text);
		},
		cut: (tally) => print(writer.cut?.(tally)),
	};
}
