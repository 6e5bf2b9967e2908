import { Exit, type ExitCode } from "../errors.ts";
import type { Ended } from "./summary.ts";

/** Exit codes by precedence where several apply: signals and internal errors first, then the codes that sent nothing. */
const PRECEDENCE: readonly ExitCode[] = [
	Exit.hangup,
	Exit.interrupted,
	Exit.terminated,
	Exit.internal,
	Exit.usage,
	Exit.manifest,
	Exit.locked,
	Exit.storage,
	Exit.untrusted,
	Exit.foreign,
	Exit.temporary,
	Exit.limit,
	Exit.failedRows,
	Exit.differences,
	Exit.output,
];

/** The one exit code of a run: by the counts of its journal, its stop, and its other results. */
export function exitOf({ totals, stop, dry, verify, superseded, failed }: Ended, isOutputLost = false): ExitCode {
	const applying = new Set<ExitCode>();
	if (stop !== undefined) applying.add(stop.exit);
	// Of the rows that an earlier execution had left to a newer run, nothing is left to do.
	if (totals.failed - (superseded?.before ?? 0) + totals.invalid > 0) applying.add(Exit.failedRows);
	if (dry?.isDetailed === true && dry.changes > 0) applying.add(Exit.differences);
	if (dry?.undeclared?.fails === true && dry.undeclared.documents > 0) applying.add(Exit.differences);
	if (verify !== undefined && verify.counts.lost + (verify.unexplained ?? 0) > 0) applying.add(Exit.differences);
	// A row that could not be checked may be lost, so it is no success.
	if (verify !== undefined && verify.counts.unknown > 0) applying.add(Exit.failedRows);
	if (isOutputLost || failed?.failure !== undefined) applying.add(Exit.output);
	// Without a stop no row may be pending: the counts are wrong, whatever else failed.
	if (stop === undefined && totals.pending !== (dry?.changes ?? 0)) applying.add(Exit.internal);
	// The code of a stop that has no rank must not become a success.
	return PRECEDENCE.find((code) => applying.has(code)) ?? stop?.exit ?? Exit.ok;
}
