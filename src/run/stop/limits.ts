import { Exit } from "../../errors.ts";
import type { RestError } from "../../rest/errors.ts";
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
export class SameRefusals {
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

/** Rows refused for want of rights, one after another, after which the key is the cause, and not the rows. */
const FORBIDDEN = 5;

/** Answers about another document than was asked for, one after another, after which a proxy must be mixing them up. */
const MIXED_UP = 3;

/** Rows that failed because the server can't do what is asked of it, before any other row was settled. */
const INCAPABLE = 3;
const incapable: ReadonlySet<string> = new Set(["HTTP_501", "HTTP_505", "HTTP_506", "HTTP_511"]);

/** Notices answers that concern one row when they come once, and the whole run when they are repeated. */
export class RepeatedFailures {
	#settled = 0;
	#forbidden = 0;
	#mixedUp = 0;
	#incapable = 0;

	/** A row succeeded. */
	succeeded(): void {
		this.#settled += 1;
		this.#forbidden = 0;
		this.#mixedUp = 0;
	}

	/** An attempt failed, whether or not its row is retried. */
	tried(error: RestError): Stop | undefined {
		this.#mixedUp = error.code === "ECHO_MISMATCH" ? this.#mixedUp + 1 : 0;
		if (this.#mixedUp < MIXED_UP) return undefined;
		return {
			exit: Exit.temporary,
			text: `${MIXED_UP} answers in a row were about another document than was asked for: ${error.message}`,
			hint: "Something between here and the service mixes answers up: check the proxy settings and --base-url.",
		};
	}

	/** A row failed for good. */
	failed(error: RestError): Stop | undefined {
		this.#settled += 1;
		this.#forbidden = error.code === "FORBIDDEN" ? this.#forbidden + 1 : 0;
		if (incapable.has(error.code)) this.#incapable += 1;
		if (this.#forbidden > 0 && (this.#settled === 1 || this.#forbidden >= FORBIDDEN)) {
			const which = this.#settled === 1 ? "the first row was" : `${FORBIDDEN} rows in a row were`;
			return {
				exit: Exit.untrusted,
				text: `${which} refused for want of rights: ${error.message}`,
				hint: "Check the dataset's id: ragtag datasets list shows those that this key may use. Where it is right, check that the key may update the dataset, as a member of a team may not; ragtag doctor -d DATASET asks the service.",
			};
		}
		if (this.#incapable < INCAPABLE || this.#incapable !== this.#settled) return undefined;
		return {
			exit: Exit.temporary,
			text: `the first ${INCAPABLE} rows met a server that can't do what is asked of it: ${error.message}`,
			hint: "Check --base-url and what stands between here and the service.",
		};
	}
}
