import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import { countsText } from "../../report/summary.ts";
import type { Totals } from "../../run/types.ts";
import type { Run } from "../open-run.ts";

/**
 * The counts of a run so far, and what to type next, for a user who does not wait for its end.
 *
 * @param name undefined for a run that has not begun: there is nothing to resume
 */
export function quitText(
	{ totals, inDoubt }: { readonly totals: Totals; readonly inDoubt: number },
	name: string | undefined,
	flags: Run["flags"],
): string {
	if (name === undefined) return "Nothing was sent: run the same command again.";
	const next = totals.pending > 0 ? `Resume it with: ${resumeCommand(name, flags)}` : undefined;
	return `${countsText(totals, 0, inDoubt)}. ${next ?? `See it with: ${withFlags(`ragtag runs show ${name}`, flags)}`}`;
}
