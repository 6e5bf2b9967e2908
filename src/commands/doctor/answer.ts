import { type CliError, Exit } from "../../errors.ts";
import type { Check } from "../../report/checks.ts";
import { failureBehind } from "../../run/retry/request.ts";
import { failed } from "./attempt.ts";

/** Seconds of difference from which on a clock is worth a warning. */
const SKEW_WARNING = 60;

const OTHER =
	"Check --base-url: it must be the address of the API, which may have another port or path than the page that people open.";
const AWAY = "Check that the service is up, and that host and port in --base-url are right.";

/** The checks `service` and `key` where the first list was not answered with a success. */
export function refusalChecks(error: CliError, host: string): readonly Check[] {
	const rest = failureBehind(error);
	if (rest === undefined) return [failed("service", error)];
	if (rest.code === "KEY_REJECTED") {
		const key = failed("key", error, "ragtag doctor --api-key-file PATH");
		return [{ name: "service", status: "ok", text: `${host} answers` }, key];
	}
	if (rest.code === "TLS_UNTRUSTED") return [failed("service", error, "ragtag doctor --ca-file PATH")];
	if (rest.code === "REDIRECT") return [failed("service", error, "ragtag doctor --base-url URL")];
	const isOther =
		rest.kind === "not_the_api" || rest.kind === "contradiction" || ["NOT_FOUND", "BAD_ENVELOPE"].includes(rest.code);
	if (isOther)
		return [{ ...failed("service", error, "ragtag doctor --base-url URL"), hint: OTHER, exit: Exit.temporary }];
	const isAway = rest.kind === "not_sent" || rest.kind === "ambiguous";
	return [{ ...failed("service", error), ...(isAway ? { hint: AWAY } : {}) }];
}

/**
 * This machine's clock against the `Date` of an answer.
 *
 * @param date as the service wrote it, whole seconds
 * @param now when the answer had come, in epoch milliseconds
 */
export function clockCheck(date: string | undefined, now: number): Check {
	const name = "clock";
	const theirs = date === undefined ? Number.NaN : Date.parse(date);
	if (Number.isNaN(theirs)) {
		return { name, status: "skipped", text: "the service does not say what time it is" };
	}
	const seconds = Math.round((now - theirs) / 1000);
	const size = Math.abs(seconds);
	// The header is cut to whole seconds, and its way takes time, too.
	if (size <= 2) return { name, status: "ok", text: "this machine's clock agrees with the service's" };
	const text = `this machine's clock is ${size} s ${seconds > 0 ? "ahead of" : "behind"} the service's`;
	if (size <= SKEW_WARNING) return { name, status: "ok", text };
	const hint = "Set the one that is wrong: the times in reports, and when the service asks to come back, go by them.";
	return { name, status: "warning", text, hint };
}
