import { Exit, type ExitCode } from "../errors.ts";
import type { Stop, Totals } from "../run/types.ts";
import type { VerifyCounts } from "./verify.ts";

/** The order in which exit codes win where several apply: signals and faults of our own first, then what sent nothing. */
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

/** What a dry run found: the rows that would change are pending, as nothing was sent. */
export type DryResult = {
	readonly changes: number;
	/** whether `--detailed-exitcode` was given */
	readonly isDetailed: boolean;
};

/** What reading back found. */
export type VerifiedResult = Pick<VerifyCounts, "lost" | "unknown"> & {
	/** rows that have something else than was sent, straight behind the run, and no later run of ours to explain it */
	readonly unexplained?: number;
};

/** The one exit code of a run, from what its journal holds, why it stopped, and whether its outputs were written. */
export function exitOf(
	totals: Totals,
	stop: Stop | undefined,
	outputFailed: boolean,
	dry?: DryResult,
	verify?: VerifiedResult,
): ExitCode {
	const applying = new Set<ExitCode>();
	if (stop !== undefined) applying.add(stop.exit);
	if (totals.failed + totals.invalid > 0) applying.add(Exit.failedRows);
	if (dry?.isDetailed === true && dry.changes > 0) applying.add(Exit.differences);
	if (verify !== undefined && verify.lost + (verify.unexplained ?? 0) > 0) applying.add(Exit.differences);
	// Whether it is lost nobody knows: that is no success.
	if (verify !== undefined && verify.unknown > 0) applying.add(Exit.failedRows);
	if (outputFailed) applying.add(Exit.output);
	// Rows that are pending though nothing stopped the run: nobody accounts for them, whatever else went wrong.
	if (stop === undefined && totals.pending !== (dry?.changes ?? 0)) applying.add(Exit.internal);
	// A stop whose code has no rank is not to pass as success.
	return PRECEDENCE.find((code) => applying.has(code)) ?? stop?.exit ?? Exit.ok;
}
