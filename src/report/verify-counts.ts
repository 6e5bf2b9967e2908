import type { VerifyMode } from "../run/verify/picked-rows.ts";

/** What a verification found, as the summary tells it. `checked` is the sum of the five behind it. */
export type VerifyCounts = {
	readonly mode: VerifyMode;
	/** rows that the run wrote */
	readonly rows: number;
	readonly checked: number;
	readonly equal: number;
	readonly normalised: number;
	readonly lost: number;
	readonly changed_since: number;
	/** could not be looked at */
	readonly unknown: number;
	/** were not looked at, as it was stopped */
	readonly pending: number;
};

/** Whether everything that was to be looked at is as it should be. */
export function isAllWell({ lost, unknown, pending }: VerifyCounts): boolean {
	return lost + unknown + pending === 0;
}
