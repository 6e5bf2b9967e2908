import { Exit } from "../../errors.ts";
import { countDone } from "../../outcomes.ts";
import { METADATA_REFUSED, PROXY_REFUSED, type RestError } from "../../rest/errors.ts";
import { NOT_ARRIVED } from "../service/arrival.ts";
import { notTheApi } from "./reasons.ts";
import { type Stop, SUPERSEDED, type Totals } from "../types.ts";

/** `--max-errors`: a number of rows, or a share of the finished ones. */
export type MaxErrors = { readonly unit: "rows" | "percent"; readonly value: number };

/** Finished rows from which `--max-errors` checks a percentage: of fewer rows, a percentage says little. */
const MIN_ROWS_FOR_PERCENT = 100;

/** Rows refused with the same code, and none successful, that stop a run: the next rows would be refused too. */
const SAME_REFUSALS = 10;

/**
 * The stop that `--max-errors` asks for, once the failures reach it.
 *
 * @param superseded failed rows whose documents a newer run had touched: they are no errors
 */
export function errorLimit(limit: MaxErrors | undefined, totals: Totals, superseded = 0): Stop | undefined {
	const failed = totals.failed - superseded;
	if (limit === undefined || failed === 0) return undefined;
	const finished = countDone(totals) + failed;
	const reached =
		limit.unit === "rows"
			? failed >= limit.value
			: finished >= MIN_ROWS_FOR_PERCENT && failed * 100 >= limit.value * finished;
	if (!reached) return undefined;
	const named = `${limit.value}${limit.unit === "percent" ? " %" : ""}`;
	return {
		exit: Exit.limit,
		text: `stopped by --max-errors ${named}: ${failed} of ${finished} finished rows failed`,
		hint: "Correct the rows (--failed FILE lists them) and run the command again.",
	};
}

/**
 * Codes of this program's own checks, which are not refusals by the service. A repeated upload begins with files that
 * exist already, or have changed, and the first documents of a plan may have changed since. A service that keeps keys has
 * written all others, and an undo must not end at the first documents to which its run has added one.
 */
const OWN_CHECKS: ReadonlySet<string> = new Set(["CONFLICT", "EXISTS", "STALE_FILE", SUPERSEDED]);

const PROXY_HINT = "Check --base-url (ragtag doctor), or ask who runs the proxy to let the requests through.";

/** The advice if all rows are refused with one code. */
const REFUSED_HINTS: ReadonlyMap<string, string> = new Map([
	["VALUE_NOT_TAKEN", "Correct the manifest, or leave the column out with --ignore."],
	[
		METADATA_REFUSED,
		"Correct the values that the rows name, or leave the column out with --ignore; ragtag doctor checks the service.",
	],
	["NOT_FOUND", "Check --dataset and the manifest's ids."],
	["HTTP_413", "Raise the limit of the proxy or the service."],
	[
		"FORBIDDEN",
		"Check --dataset (ragtag datasets list). If it is right, use the key of its owner: ragtag doctor -d DATASET checks it.",
	],
]);

/** Codes whose cause is in the rows and not in the service or the key. */
const WRONG_ROWS: ReadonlySet<string> = new Set(["NOT_FOUND", "VALUE_NOT_TAKEN"]);

/** Rows in sequence refused for lack of permission, or by a proxy, after which the rows are not the cause. */
const FORBIDDEN_ROWS = 5;

/** Answers in sequence about another document than the request, after which a proxy is the cause. */
const MIXED_UP_ANSWERS = 3;

/** Rows in sequence that were answered with success, without effect: then the cause is the service, and no other client. */
const LOST_ROWS = 3;

const LOST_CODES: ReadonlySet<string> = new Set([NOT_ARRIVED, "NOT_REMOVED", "NOT_STORED"]);

/** Detects failures that concern one row when they come once, and the whole run when they are repeated. */
export class RepeatedFailures {
	readonly #isCounted: (code: string) => boolean;
	#settled = 0;
	#forbidden = 0;
	#mixedUp = 0;
	#lost = 0;
	/** rows that were refused with one code, while no row succeeded and none was refused with another */
	#same: { readonly code: string; count: number } | undefined;
	#differs = false;
	hasSucceeded = false;

	/** @param isCounted whether a code is a refusal of these rows, which would come for every row */
	constructor(isCounted: (code: string) => boolean = () => true) {
		this.#isCounted = (code) => !OWN_CHECKS.has(code) && isCounted(code);
	}

	succeeded(): void {
		this.hasSucceeded = true;
		this.#settled += 1;
		this.#forbidden = this.#mixedUp = this.#lost = 0;
	}

	/** An attempt failed, whether or not its row is retried. */
	attemptFailed(error: RestError): Stop | undefined {
		this.#mixedUp = error.code === "ECHO_MISMATCH" ? this.#mixedUp + 1 : 0;
		if (this.#mixedUp < MIXED_UP_ANSWERS) return undefined;
		return {
			exit: Exit.temporary,
			text: `${MIXED_UP_ANSWERS} answers in a row were about another document than the request: ${error.message}`,
			hint: "A proxy before the service may mix up answers: check the proxy settings and --base-url.",
		};
	}

	/** A row failed for good. */
	failed(error: RestError): Stop | undefined {
		this.#settled += 1;
		this.#forbidden = error.code === "FORBIDDEN" || error.code === PROXY_REFUSED ? this.#forbidden + 1 : 0;
		this.#lost = LOST_CODES.has(error.code) ? this.#lost + 1 : 0;
		if (this.#lost >= LOST_ROWS) {
			return { ...notTheApi(error), text: `${LOST_ROWS} rows in a row had no effect: ${error.message}` };
		}
		if (this.#forbidden === 0 || (this.#settled > 1 && this.#forbidden < FORBIDDEN_ROWS)) return this.#allAlike(error);
		const which = this.#settled === 1 ? "the first row was" : `${FORBIDDEN_ROWS} rows in a row were`;
		if (error.code === PROXY_REFUSED) {
			return { exit: Exit.untrusted, text: `${which} refused: ${error.message}`, hint: PROXY_HINT };
		}
		return {
			exit: Exit.untrusted,
			text: `${which} refused for lack of permission: ${error.message}`,
			hint: "Check the dataset's id: ragtag datasets list shows the datasets of this key. If the id is right, check that the key may update the dataset: a member of a team may not. ragtag doctor -d DATASET checks it.",
		};
	}

	/** Every row was refused with the same code. Otherwise a wrong dataset could cost a million requests. */
	#allAlike({ code, message }: RestError): Stop | undefined {
		if (this.hasSucceeded || this.#differs || !this.#isCounted(code)) return undefined;
		const same = (this.#same ??= { code, count: 0 });
		this.#differs = same.code !== code;
		same.count += 1;
		if (this.#differs || same.count < SAME_REFUSALS) return undefined;
		return {
			exit: Exit.limit,
			text: `the first ${SAME_REFUSALS} rows all failed with ${code}: ${message}`,
			areRowsWrong: WRONG_ROWS.has(code),
			hint: `${REFUSED_HINTS.get(code) ?? "ragtag doctor checks the service."} --max-errors N continues anyway.`,
		};
	}
}
