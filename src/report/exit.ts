import { Exit, type ExitCode } from "../errors.ts";
import type { Stop, Totals } from "../run/types.ts";
import type { VerifyCounts } from "./verify.ts";

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

/** The result of a dry run. Rows that would change are pending, because nothing was sent. */
export type DryResult = {
	readonly changes: number;
	/** whether `--detailed-exitcode` was given */
	readonly isDetailed: boolean;
	/** documents that no row names, and whether that is a difference; undefined without `--undeclared` */
	readonly undeclared?: { readonly documents: number; readonly fails: boolean } | undefined;
};

/** The result of reading back. */
export type VerifiedResult = Pick<VerifyCounts, "lost" | "unknown"> & {
	/** rows that were changed directly after the run, and not by a later recorded run */
	readonly unexplained?: number;
};

/** Results besides the counts on which the exit code depends. */
export type ExitFacts = {
	readonly outputFailed?: boolean;
	readonly dry?: DryResult | undefined;
	readonly verify?: VerifiedResult | undefined;
	/** failed rows that an earlier execution had left to a newer run: nothing of them is left to do */
	readonly settledBefore?: number | undefined;
};

/** The one exit code of a run: by the counts of its journal, its stop, and its other results. */
export function exitOf(
	totals: Totals,
	stop: Stop | undefined,
	{ outputFailed = false, dry, verify, settledBefore = 0 }: ExitFacts = {},
): ExitCode {
	const applying = new Set<ExitCode>();
	if (stop !== undefined) applying.add(stop.exit);
	if (totals.failed - settledBefore + totals.invalid > 0) applying.add(Exit.failedRows);
	if (dry?.isDetailed === true && dry.changes > 0) applying.add(Exit.differences);
	if (dry?.undeclared?.fails === true && dry.undeclared.documents > 0) applying.add(Exit.differences);
	if (verify !== undefined && verify.lost + (verify.unexplained ?? 0) > 0) applying.add(Exit.differences);
	// A row that could not be checked may be lost, so it is no success.
	if (verify !== undefined && verify.unknown > 0) applying.add(Exit.failedRows);
	if (outputFailed) applying.add(Exit.output);
	// Without a stop no row may be pending: the counts are wrong, whatever else failed.
	if (stop === undefined && totals.pending !== (dry?.changes ?? 0)) applying.add(Exit.internal);
	// The code of a stop that has no rank must not become a success.
	return PRECEDENCE.find((code) => applying.has(code)) ?? stop?.exit ?? Exit.ok;
}
