import type { App } from "../../app.ts";
import { verdictText, verifyLine } from "../../report/verify.ts";
import type { Judged } from "../../run/verify/verify.ts";

/** Rows of a kind that are told one by one. */
const TOLD = 20;

/** Tells rows that are not as they were sent: the first as lines on standard error, with `json` all as objects. */
export function verdictTeller(name: string, json: boolean, { io }: App): (judged: Judged) => Promise<void> {
	let [bad, changed] = [0, 0];
	return async (judged) => {
		const { result, line, row } = judged;
		if (result === "equal" || result === "normalised") return;
		if (json) await io.out(`${verifyLine(judged)}\n`);
		const where = line === undefined ? `row ${row + 1}` : String(line);
		const text = `${name}:${where}: ${verdictText(judged)}`;
		const more = json ? "" : "; --json lists all of them";
		if (result === "changed_since") {
			changed += 1;
			if (changed <= TOLD) io.note(text);
			if (changed === TOLD + 1) io.note(`... more documents were changed since${more}`);
			return;
		}
		bad += 1;
		if (bad <= TOLD) io.err(text);
		if (bad === TOLD + 1) io.err(`... more rows are lost${more}`);
	};
}
