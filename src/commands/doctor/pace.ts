import type { Settings } from "../../app.ts";
import type { Check } from "../../report/checks.ts";
import { MAX_CONCURRENCY } from "../../run/rate/least-concurrency.ts";
import { ADVISED_RATE, safeRate } from "../../run/rate/safe-rate.ts";

/** What several requests took, in milliseconds. `times` has at least one. */
export function latencyOf(times: readonly number[]): { readonly median: number; readonly slowest: number } {
	const sorted = times.toSorted((one, other) => one - other);
	return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, slowest: sorted.at(-1) ?? 0 };
}

export function latencyCheck(times: readonly number[]): Check {
	const { median, slowest } = latencyOf(times);
	const text = `median ${millisecondsText(median)}, slowest ${millisecondsText(slowest)} of ${times.length} lists, one after another`;
	return { name: "latency", status: "ok", text };
}

/** What rate the service can be asked to take at that latency, and whether a rate that was set is more. */
export function rateCheck(latency: number, wanted: Settings["rate"], pace: string | undefined): Check {
	const safe = safeRate(latency);
	const known = pace === undefined ? "" : `; ${pace}`;
	const text = `${safe} requests a second are safe: ${MAX_CONCURRENCY} at most are in flight, and ${ADVISED_RATE} are what the service advises${known}`;
	if (wanted === undefined || (wanted.value !== "unlimited" && wanted.value <= safe)) {
		return { name: "rate", status: "ok", text };
	}
	const asked = wanted.value === "unlimited" ? "lifts the cap" : `asks for ${wanted.value}`;
	return { name: "rate", status: "warning", text: `${text}; ${wanted.origin} ${asked}`, hint: `Use --rate ${safe}.` };
}

function millisecondsText(milliseconds: number): string {
	return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
