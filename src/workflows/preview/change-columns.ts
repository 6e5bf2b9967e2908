import type { App } from "../../app.ts";
import { changeLine } from "../../report/changes.ts";
import { type ChangeFormat, formatting } from "../../report/changes.ts";
import type { ShownChange } from "../../report/changes.ts";
import type { ChangeTally } from "../../report/change-tally.ts";

/** Prints changes as they are found. */
export type ChangePrinter = {
	change(change: ShownChange): Promise<void>;
	/** when all were shown */
	end(tally: ChangeTally): Promise<void>;
};

/** Characters of a value on a terminal; in a pipe it stands as it is. */
const LONGEST = 200;

export function changePrinter(format: ChangeFormat | "json", { io }: App): ChangePrinter {
	if (format === "json") return { change: (change) => io.out(changeLine(change)), end: async () => undefined };
	const { head = "", change: written, totals } = formatting(format);
	const longest = io.stdoutIsTerminal ? LONGEST : Number.POSITIVE_INFINITY;
	let isBegun = false;
	const begin = async (): Promise<void> => {
		if (!isBegun) await io.out(head);
		isBegun = true;
	};
	return {
		change: async (change) => {
			await begin();
			await io.out(written(change, io.style, longest));
		},
		end: async (tally) => {
			const lines = [tally.text(), tally.removedText()].filter((line) => line !== undefined);
			if (totals !== undefined) return io.out(`${isBegun ? "\n" : ""}${totals(lines)}`);
			await begin();
			io.note(lines.join("\n"));
		},
	};
}
