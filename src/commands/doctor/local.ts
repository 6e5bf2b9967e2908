import type { Setting, Settings } from "../../app.ts";
import { type CliError, Exit } from "../../errors.ts";
import { policyText } from "../../plan/policy.ts";
import { ADVISED_RATE, rateSettingText } from "../../rates.ts";
import type { ShownSetting } from "../../report/checks.ts";
import type { RestError } from "../../rest/errors.ts";
import type { SafeRoute } from "../../rest/preflight.ts";
import { probeStorage } from "../../run/storage/folders.ts";
import { notTheApi, untrustedHint } from "../../run/stop/reasons.ts";
import { show } from "../../text/show.ts";
import { ageText } from "../../text/times.ts";
import { sizeText } from "../../text/words.ts";
import {
	type DoctorFlags,
	failed,
	type Found,
	ok,
	skipped,
	type Step,
	STORAGE,
	untrustedNext,
	warning,
} from "./checks.ts";

/** Bytes. With less free space a long run may fill the disk: a hundred thousand rows with their before-images. */
const LITTLE_SPACE = 500_000_000;

/** Checks of the files that the settings name. Nothing is sent. */
export const LOCAL: readonly Step[] = [
	{
		name: "address",
		next: "ragtag doctor --base-url URL",
		check: async (doctor) => {
			const { settings, flags, app } = doctor;
			doctor.reach = await app.preflight(settings, flags.timeout);
			const origin = settings.baseUrl === undefined ? "" : ` (${settings.baseUrl.origin})`;
			return ok(`requests go to ${doctor.reach.baseUrl}${origin}`);
		},
	},
	{
		name: "key",
		next: "ragtag doctor --api-key-file PATH",
		// Only the service knows whether the key is accepted.
		check: async (doctor) => void (doctor.key = await doctor.settings.key()),
	},
	{
		name: "ca_file",
		next: "ragtag doctor --ca-file PATH",
		check: async (doctor) => {
			await doctor.settings.readCa();
			const { caFile } = doctor.settings;
			return caFile && ok(`the certificates in ${caFile.value} are trusted as well`);
		},
	},
	{
		name: "proxy",
		check: (doctor) => {
			const route = doctor.reach?.route();
			if (route === undefined) return undefined;
			doctor.route = route;
			if (route.kind === "proxy") return ok(`requests go through the proxy ${route.address} (${route.variable})`);
			const why = {
				loopback: "a loopback address never uses a proxy",
				exempt: `${route.variable ?? "NO_PROXY"} exempts this host`,
				unset: "no variable names a proxy for this address",
			};
			return ok(`direct: ${why[route.why]}`);
		},
	},
	{
		name: STORAGE,
		next: "ragtag doctor --state-dir DIR",
		// Whether runs can be recorded where the settings say. A file is written there, and removed.
		check: async ({ settings, app }) => {
			const runs = app.runs(settings);
			runs.secure();
			const free = await probeStorage(runs.folder);
			const where = `runs are recorded in ${show(runs.folder)}`;
			if (free === undefined) return ok(where);
			const text = `${where}; ${sizeText(free)} free`;
			if (free >= LITTLE_SPACE) return ok(text);
			const hint =
				"A run stops when its records no longer fit. Free some space, remove old records with ragtag runs prune, or name another folder with --state-dir DIR.";
			return warning(text, hint);
		},
	},
];

/** Every setting with its origin. The key's value and a proxy's credentials are left out. */
export function shownSettings(
	settings: Settings,
	flags: DoctorFlags,
	route: SafeRoute | undefined,
): readonly ShownSetting[] {
	const show = (name: string, setting: Setting<string | number> | undefined): ShownSetting => ({
		name,
		value: setting?.value ?? null,
		origin: setting?.origin ?? null,
	});
	const byDefault = <Value>(value: Value): Setting<Value> => ({ value, origin: "default" });
	const kept = settings.keepRuns.value;
	const proxy = route?.kind === "proxy" ? { value: route.address, origin: route.variable } : undefined;
	const rate = given("--rate", flags.rate, settings.rate) ?? byDefault(ADVISED_RATE);
	return [
		show("base_url", settings.baseUrl),
		{ name: "api_key", value: null, origin: settings.keyOrigin ?? null },
		show("profile", settings.profile),
		show("state_dir", settings.stateDir),
		show("ca_file", settings.caFile),
		show("proxy", proxy),
		show("dataset", given("--dataset", flags.dataset, settings.dataset)),
		// A timetable is shown as text.
		show("rate", { ...rate, value: typeof rate.value === "object" ? rateSettingText(rate.value) : rate.value }),
		show("flavour", given("--flavour", flags.flavour, settings.flavour) ?? byDefault("auto")),
		show("body", settings.body ?? byDefault("auto")),
		show("limiter", settings.limiter && { ...settings.limiter, value: settings.limiter.value.host }),
		show("keep_runs", { ...settings.keepRuns, value: kept === "forever" ? kept : ageText(kept) }),
		show("policy", settings.policy && { ...settings.policy, value: policyText(settings.policy.value) }),
	];
}

/** The value of a flag, or else of a setting, with its origin. */
export function given<Value>(
	flag: `--${string}`,
	value: Value | undefined,
	setting: Setting<Value> | undefined,
): Setting<Value> | undefined {
	return value === undefined ? setting : { value, origin: flag };
}

const DAY = 24 * 3600 * 1000;

/** Days. A certificate that ends sooner is a warning, early enough to have it renewed. */
const EXPIRY_WARNING_DAYS = 14;

export const DNS: Step = {
	name: "dns",
	check: async ({ reach, route }) => {
		if (reach === undefined || route === undefined) return undefined;
		const isProxy = route.kind === "proxy";
		const { name, isLiteral } = isProxy ? route.host : reach.host;
		const whose = isProxy ? "of the proxy " : "";
		if (isLiteral) return skipped(`${name} ${whose}is an address, so no name is looked up`);
		const found = await reach.lookUp(name);
		if (found instanceof Error) {
			const hint = `Check the host in ${isProxy ? route.variable : "--base-url"}, and this machine's network and name servers.`;
			const { message } = found;
			return failed(
				{ message, hint, exit: Exit.temporary },
				isProxy ? "ragtag doctor" : "ragtag doctor --base-url URL",
			);
		}
		const rest = isProxy ? "; the name of the service is looked up by the proxy" : "";
		return ok(`${name} is ${found.join(", ")}${rest}`);
	},
};

export const TLS: Step = {
	name: "tls",
	check: async ({ reach, route }) => {
		if (reach === undefined || route === undefined) return undefined;
		if (!reach.isHttps) {
			if (reach.isLoopback) return skipped("the address is plain http, and requests stay on this machine");
			const text = "the address is plain http: the key and all metadata can be read on the network";
			return warning(text, "Use the https address, if the service has one.");
		}
		if (route.kind === "proxy") {
			return skipped(`TLS goes through the proxy ${route.address}: the first request shows whether it works`);
		}
		const found = await reach.shakeHands();
		if (found instanceof Error)
			return unanswered(found, { message: found.message, hint: UNREACHABLE_HINT, exit: Exit.temporary });
		const { protocol, issuer, expires } = found;
		const days = Math.floor((expires - Date.now()) / DAY);
		const text = `${protocol}; the certificate is trusted, issued by ${show(issuer)}, and ends in ${days} ${days === 1 ? "day" : "days"}`;
		if (days >= EXPIRY_WARNING_DAYS) return ok(text);
		return warning(text, `Ask those who run ${new URL(reach.baseUrl).host} to renew it before it ends.`);
	},
};

/** The failed check of a service that was not reached, or did not answer like the API. @param known the error for people */
export function unanswered(error: RestError, known: Pick<CliError, "message" | "hint" | "exit">): Found {
	const { kind, code } = error;
	const { message } = known;
	if (kind === "untrusted") {
		return failed({ message, hint: untrustedHint(code), exit: Exit.untrusted }, untrustedNext(code));
	}
	if (kind === "not_the_api" || kind === "contradiction" || code === "NOT_FOUND" || code === "BAD_ENVELOPE") {
		const { hint, exit } = notTheApi(error);
		return failed({ message, hint, exit }, "ragtag doctor --base-url URL");
	}
	const isUnreachable = kind === "not_sent" || kind === "ambiguous";
	return failed(isUnreachable ? { message, hint: UNREACHABLE_HINT, exit: known.exit } : known);
}

const UNREACHABLE_HINT = "Check that the service is up, and that host and port in --base-url are right.";
