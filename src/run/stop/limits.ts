import { Exit } from "../../errors.ts";
import type { RowError, Stop, Totals } from "../types.ts";

/** `--max-errors`: a number of rows, or a share of the finished ones. */
export type MaxErrors = { readonly unit: "rows" | "percent"; readonly value: number };

/** Finished rows from which a share of failures means something. */
const PERCENT_FROM = 100;
/** Rows refused with one code, before any row succeeded, after which the run stops: the next rows would be refused too. */
const ALIKE = 10;

/** Whether the failures so far reach `--max-errors`. Pure: totals in, a stop out. */
export function errorLimit(limit: MaxErrors | undefined, totals: Totals): Stop | undefined {
	if (limit === undefined || totals.failed === 0) return undefined;
	const finished = totals.updated + totals.unchanged + totals.uploaded + totals.removed + totals.failed;
	const reached =
		limit.unit === "rows"
			? totals.failed >= limit.value
			: finished >= PERCENT_FROM && totals.failed * 100 >= limit.value * finished;
	if (!reached) return undefined;
	const named = `${limit.value}${limit.unit === "percent" ? " %" : ""}`;
	return {
		exit: Exit.limit,
		text: `stopped by --max-errors ${named}: ${totals.failed} of ${finished} finished rows failed`,
		hint: "Mend the rows (--failed FILE writes them down) and run the command again.",
	};
}

/**
 * Codes of this program's own checks, which are no refusals by the service. A repeated upload begins with files that exist
 * already, and the first documents of a plan may have been changed since.
 */
const SEEN_BY_US: ReadonlySet<string> = new Set(["CONFLICT", "EXISTS"]);

/** What to check where all rows are refused with one code. */
const REFUSED_HINTS: ReadonlyMap<string, string> = new Map([
	["VALUE_NOT_TAKEN", "Mend the manifest, or leave the column out with --ignore."],
	["NOT_FOUND", "Check --dataset and the manifest's ids."],
	[
		"FORBIDDEN",
		"Check --dataset (ragtag datasets list). If it is right, use the key of its owner: ragtag doctor -d DATASET checks it.",
	],
]);

/** Notices that every row is refused with one code: a wrong dataset would otherwise cost a million requests. */
export class RefusedAlike {
	#code: string | undefined;
	#count = 0;
	#off = false;

	succeeded(): void {
		this.#off = true;
	}

	failed(error: RowError): Stop | undefined {
		if (this.#off || SEEN_BY_US.has(error.code)) return undefined;
		if (this.#code !== undefined && this.#code !== error.code) {
			this.#off = true;
			return undefined;
		}
		this.#code = error.code;
		this.#count += 1;
		if (this.#count < ALIKE) return undefined;
		return {
			exit: Exit.limit,
			text: `the first ${ALIKE} rows all failed with ${error.code}: ${error.text}`,
			hint: `${REFUSED_HINTS.get(error.code) ?? "ragtag doctor checks the service."} --max-errors N goes on regardless.`,
		};
	}
}
