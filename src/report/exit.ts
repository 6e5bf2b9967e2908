import { Exit, type ExitCode } from "../errors.ts";
import type { Stop, Totals } from "../run/types.ts";

/** The order in which exit codes win where several apply: signals and faults of our own first, then what sent nothing. */
const PRECEDENCE: readonly ExitCode[] = [
	Exit.hangup,
	Exit.interrupted,
	Exit.terminated,
	Exit.internal,
	Exit.usage,
	Exit.manifest,
	Exit.storage,
	Exit.untrusted,
	Exit.foreign,
	Exit.temporary,
	Exit.limit,
	Exit.failedRows,
	Exit.output,
];

/** The one exit code of a run, from what its journal holds, why it stopped, and whether its outputs were written. */
export function exitOf(totals: Totals, stop: Stop | undefined, outputFailed: boolean): ExitCode {
	const applying = new Set<ExitCode>();
	if (stop !== undefined) applying.add(stop.exit);
	if (totals.failed + totals.invalid > 0) applying.add(Exit.failedRows);
	if (outputFailed) applying.add(Exit.output);
	const winner = PRECEDENCE.find((code) => applying.has(code));
	if (winner !== undefined) return winner;
	// A stop whose code has no rank, and rows that nobody accounts for, are not to pass as success.
	return stop?.exit ?? (totals.pending > 0 ? Exit.internal : Exit.ok);
}
