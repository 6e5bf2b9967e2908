import type { Settings } from "../../app.ts";
import { BODY_FORMS } from "../../body-forms.ts";
import { type CliError, Exit } from "../../errors.ts";
import { highestRate } from "../../rates.ts";
import type { Check } from "../../report/checks.ts";
import { MAX_CONCURRENCY } from "../../rates.ts";
import { ADVISED_RATE, safeRate } from "../../rates.ts";
import { restErrorOf } from "../../run/retry/request.ts";
import type { Recognition } from "../../run/service/service-memory.ts";
import { WRONG_ADDRESS_HINT } from "../../run/stop/reasons.ts";
import { attempt, checksOf, type Connected, failed, ok, type Step, untrustedNext, warning } from "./checks.ts";
import { DATASET, FIRST_ENTRY } from "./dataset.ts";
import { flavourSetting, rateSetting } from "./local.ts";

/** Requests that measure the latency: enough for a median that one slow answer does not change. */
const LATENCY_REQUESTS = 5;

/** Checks that need the service. No request changes anything. */
export async function* serviceChecks(doctor: Connected): AsyncGenerator<Check> {
	const { session, settings, firstAnswer } = doctor;
	const host = new URL(settings.requireBaseUrl().value).host;
	const list = await attempt(() => session.request(() => session.api.listDatasets(FIRST_ENTRY)));
	if ("error" in list) yield* refusalChecks(list.error, host);
	else {
		yield ok("service", `${host} answers like the API`);
		yield ok("key", `the service accepts the key from ${settings.keyOrigin ?? "the settings"}`);
	}
	const answer = firstAnswer();
	if (answer !== undefined) yield clockCheck(answer.date, answer.at);
	if ("value" in list)
		yield* checksOf([FLAVOUR, ...DATASET, ...PACE], Object.assign(doctor, { first: list.value.items[0] }));
}

const FLAVOUR: Step<Connected> = {
	name: "flavour",
	check: async (doctor) => {
		const { session, settings, flags } = doctor;
		const before = session.service.recognition;
		doctor.recognition = await session.service.detect(session.request);
		const flavour = flavourSetting(settings, flags.flavour);
		return flavourCheck(doctor.recognition, before, { flavour, body: settings.body });
	},
};

const PACE: readonly Step<Connected>[] = [
	{
		name: "latency",
		check: async (doctor) => {
			const { app, session } = doctor;
			const times: number[] = [];
			for (let turn = 0; turn < LATENCY_REQUESTS; turn += 1) {
				const time = await session.request(async () => {
					// Measured within the request, so that waiting for the limiter does not count.
					const started = app.clock.now();
					await session.api.listDatasets(FIRST_ENTRY);
					return app.clock.now() - started;
				});
				times.push(time);
			}
			doctor.latency = latencyOf(times).median;
			doctor.safeRate = safeRate(doctor.latency);
			return latencyCheck(times);
		},
	},
	{
		name: "rate",
		check: ({ latency, settings, flags, recognition }) =>
			latency === undefined
				? undefined
				: rateCheck(latency, rateSetting(settings, flags.rate), recognition?.flavour.knownSpeed),
	},
];

/** Seconds. A larger difference between the clocks is a warning. */
const MAX_SKEW = 60;

const UNREACHABLE_HINT = "Check that the service is up, and that host and port in --base-url are right.";

/** The checks `service` and `key` where the first list was not answered with a success. */
export function refusalChecks(error: CliError, host: string): readonly Check[] {
	const rest = restErrorOf(error);
	if (rest === undefined) return [failed("service", error)];
	if (rest.code === "KEY_REJECTED") {
		const key = failed("key", error, "ragtag doctor --api-key-file PATH");
		return [{ name: "service", status: "ok", text: `${host} answers` }, key];
	}
	if (rest.kind === "untrusted") return [failed("service", error, untrustedNext(rest.code))];
	const isWrongAddress =
		rest.kind === "not_the_api" || rest.kind === "contradiction" || ["NOT_FOUND", "BAD_ENVELOPE"].includes(rest.code);
	if (isWrongAddress)
		return [
			{ ...failed("service", error, "ragtag doctor --base-url URL"), hint: WRONG_ADDRESS_HINT, exit: Exit.temporary },
		];
	const isUnreachable = rest.kind === "not_sent" || rest.kind === "ambiguous";
	return [{ ...failed("service", error), ...(isUnreachable ? { hint: UNREACHABLE_HINT } : {}) }];
}

/**
 * This machine's clock against the `Date` of an answer.
 *
 * @param date as the service wrote it, in whole seconds
 * @param now when the answer had arrived, in epoch milliseconds
 */
export function clockCheck(date: string | undefined, now: number): Check {
	const name = "clock";
	const theirs = date === undefined ? Number.NaN : Date.parse(date);
	if (Number.isNaN(theirs)) {
		return { name, status: "skipped", text: "the service's answers have no date" };
	}
	const seconds = Math.round((now - theirs) / 1000);
	const size = Math.abs(seconds);
	// The header has whole seconds, and the answer took time to arrive.
	if (size <= 2) return ok(name, "this machine's clock agrees with the service's");
	const text = `this machine's clock is ${size} s ${seconds > 0 ? "ahead of" : "behind"} the service's`;
	if (size <= MAX_SKEW) return ok(name, text);
	const hint = "Set the clock that is wrong: times in reports and waits that the service asks for depend on it.";
	return warning(name, text, hint);
}

/** The kind of server, how that is known, and what contradicts the settings or the remembered kind. */
export function flavourCheck(
	found: Recognition,
	before: Recognition | undefined,
	{ flavour: wanted, body }: Pick<Settings, "flavour" | "body">,
): Check {
	const { flavour, form, how, proven } = found;
	const proof = proven !== undefined ? "a write that was read back confirmed this" : "no write has confirmed this yet";
	const words = BODY_FORMS.find(({ name }) => name === form)?.words ?? form;
	const text = `${flavour.servers} (${flavour.name}): ${how}. Updates are sent as ${words}; ${proof}`;
	const doubts: string[] = [];
	const hints: string[] = [];
	if (wanted !== undefined && wanted.value !== "auto" && wanted.value !== flavour.name) {
		doubts.push(`${wanted.origin} says ${wanted.value}`);
		hints.push(`Take flavour out of ${wanted.origin}, and it is detected.`);
	}
	if (body !== undefined && body.value !== "auto" && !flavour.update.forms.includes(body.value)) {
		doubts.push(`${body.origin} asks for the body form ${body.value}, which this kind of server does not accept`);
		hints.push(`Take body out of ${body.origin}.`);
	}
	if (before?.origin === "remembered" && before.flavour.name !== flavour.name) {
		const age = ageText(Math.max(0, found.foundAt - before.foundAt));
		doubts.push(`earlier it was detected as ${before.flavour.servers} (${before.flavour.name}), found ${age} ago`);
		hints.push("Was the service upgraded? Runs use what was detected now.");
	}
	if (doubts.length === 0) return { name: "flavour", status: "ok", text };
	return { name: "flavour", status: "warning", text: `${text}. But ${doubts.join("; ")}`, hint: hints.join(" ") };
}

/** `3 days`, `1 hour`, `0 minutes`: the largest unit that fits. */
export function ageText(milliseconds: number): string {
	const minutes = Math.floor(milliseconds / 60_000);
	const [count, unit] =
		minutes >= 2880
			? [Math.floor(minutes / 1440), "day"]
			: minutes >= 120
				? [Math.floor(minutes / 60), "hour"]
				: [minutes, "minute"];
	return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The durations of several requests, in milliseconds. `times` has at least one. */
export function latencyOf(times: readonly number[]): { readonly median: number; readonly slowest: number } {
	const sorted = times.toSorted((one, other) => one - other);
	return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, slowest: sorted.at(-1) ?? 0 };
}

export function latencyCheck(times: readonly number[]): Check {
	const { median, slowest } = latencyOf(times);
	const text = `median ${millisecondsText(median)}, slowest ${millisecondsText(slowest)} of ${times.length} list requests, one after another`;
	return { name: "latency", status: "ok", text };
}

/** The rate that is safe at that latency, and whether the rate that was set is higher. */
export function rateCheck(latency: number, wanted: Settings["rate"], pace: string | undefined): Check {
	const safe = safeRate(latency);
	const known = pace === undefined ? "" : `; ${pace}`;
	const text = `${safe} requests a second are safe: at most ${MAX_CONCURRENCY} are in flight, and the service's documentation advises at most ${ADVISED_RATE}${known}`;
	const highest = wanted === undefined ? 0 : highestRate(wanted.value);
	if (wanted === undefined || (highest !== "unlimited" && highest <= safe)) {
		return { name: "rate", status: "ok", text };
	}
	const asked = highest === "unlimited" ? "removes the cap" : `asks for ${highest}`;
	return { name: "rate", status: "warning", text: `${text}; ${wanted.origin} ${asked}`, hint: `Use --rate ${safe}.` };
}

function millisecondsText(milliseconds: number): string {
	return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
