import type { App } from "../../app.ts";
import { changeFormat, type DryRunFlags } from "../../flags/change-flags.ts";
import type { ChangeTally, ShownChange, UndeclaredDocument } from "../../report/change-tally.ts";
import { changeWriter } from "../../report/changes.ts";
import type { Doubts } from "../../run/documents/searches.ts";
import type { Outcome, Totals } from "../../run/types.ts";
import type { EffectChange } from "../effect.ts";

/** Receives the changes that a dry run finds: it prints them, or writes them into a plan. */
export type ChangeSink = {
	/** in the order of the rows */
	change(change: ShownChange, effect: EffectChange): Promise<void>;
	/** a row whose document already has the row's metadata */
	unchanged?(outcome: Outcome): Promise<void>;
	/** after the last row: a document that no row names, with `--undeclared` */
	undeclared?(document: UndeclaredDocument): Promise<void>;
	/**
	 * after the last row; not where the run was stopped
	 *
	 * @returns the next command, if it is not the same one without `--dry-run`
	 */
	end(tally: ChangeTally, totals: Totals): Promise<string | undefined>;
	/** what is done about documents that show no metadata, where a list may hide it; a warning unless given */
	readonly doubts?: Doubts | undefined;
	/** where the run was stopped before its last row: prints what it holds */
	cut?(tally: ChangeTally): Promise<void>;
	/** words besides the reason of a stopped run, and the next command */
	readonly stopped?: { readonly text: string; readonly next: string };
};

/** Characters of a value on a terminal; in a pipe it stands as it is. */
const LONGEST = 200;

/**
 * Prints the changes of a dry run in the format that the flags choose, as they are found where the format allows that.
 *
 * @param nextOf the next command, by the number of documents that would change
 */
export function changePrinter(
	flags: DryRunFlags & { readonly json?: boolean | undefined },
	{ io }: App,
	nextOf: (documents: number) => string | undefined = () => undefined,
) {
	const format = changeFormat(flags);
	const longest = io.stdoutIsTerminal ? LONGEST : Number.POSITIVE_INFINITY;
	const writer = changeWriter(format, { marks: io.style, longest, limit: flags.limitCharacters });
	const print = async (text = ""): Promise<void> => {
		if (text !== "") await (format === "csv" || format === "json" ? io.out(text) : io.print(text));
	};
	return {
		change: (change: ShownChange) => print(writer.change(change)),
		undeclared: (document: UndeclaredDocument) => print(writer.undeclared(document)),
		end: async (tally: ChangeTally) => {
			await print(writer.end(tally));
			// A table has no place for them.
			if (format === "csv") for (const text of tally.texts()) io.note(text);
			return nextOf(tally.documents);
		},
		cut: (tally: ChangeTally) => print(writer.cut?.(tally)),
	} satisfies ChangeSink;
}
