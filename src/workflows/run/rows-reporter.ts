import type { App } from "../../app.ts";
import { rowLine } from "../../report/summary.ts";
import type { Outcome, Work } from "../../run/types.ts";

/** Failed rows that are printed one by one: a million lines would hide everything else. */
const TOLD = 20;

/** Prints failed rows as they end: as lines on standard error, and with `json` as objects; with `all`, every row so. */
export function rowTeller(
	name: string,
	{ json, all }: { readonly json: boolean; readonly all: boolean },
	{ io }: App,
): (outcome: Outcome<Work>) => Promise<void> {
	let told = 0;
	return async (outcome) => {
		const failed = outcome.status === "failed";
		if (json && (failed || all)) await io.out(`${rowLine(outcome)}\n`);
		if (!failed) return;
		told += 1;
		if (told <= TOLD) io.err(`${name}:${outcome.item.line}: ${outcome.error?.code}: ${outcome.error?.text}`);
		if (told === TOLD + 1) io.err("... more rows failed; the file of failed rows and --json have all of them");
	};
}
