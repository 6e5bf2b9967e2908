import { resumeCommand, withFlags } from "../../flags/next-command.ts";
import { countsText } from "../../report/summary.ts";
import type { Totals } from "../../run/types.ts";
import type { Run } from "../open-run.ts";

/** The counts of a run so far, and what to type next, for a user who does not wait for its end. */
export function quitText(totals: Totals, name: string, flags: Run["flags"]): string {
	const next = totals.pending > 0 ? `Resume it with: ${resumeCommand(name, flags)}` : undefined;
	return `${countsText(totals)}. ${next ?? `See it with: ${withFlags(`ragtag runs show ${name}`, flags)}`}`;
}
