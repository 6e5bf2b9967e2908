import type { Settings } from "../../app.ts";
import { Exit } from "../../errors.ts";
import { policyText } from "../../plan/policy.ts";
import { rateSettingText } from "../../rates.ts";
import type { Check, ShownSetting } from "../../report/checks.ts";
import type { Handshake, Preflight, PreflightFailure, PreflightResult, SafeRoute } from "../../rest/preflight.ts";
import { ADVISED_RATE } from "../../rates.ts";
import { probeStorage } from "../../run/storage/folders.ts";
import { NOT_TLS_HINT, untrustedHint } from "../../run/stop/reasons.ts";
import { show } from "../../text/show.ts";
import { ageText } from "../../text/times.ts";
import { bytesText } from "../../text/words.ts";
import { type Doctor, type DoctorFlags, ok, skipped, type Step, untrustedNext, warning } from "./checks.ts";

export const STORAGE = "storage";

/** Bytes. With less free space a long run may fill the disk: a hundred thousand rows with their before-images. */
const LITTLE_SPACE = 500_000_000;

/** Checks of the files that the settings name. Nothing is sent. */
export const CONFIGURATION: readonly Step<Doctor>[] = [
	{
		name: "address",
		next: "ragtag doctor --base-url URL",
		check: async (doctor) => {
			const { settings, flags, app } = doctor;
			doctor.reach = await app.preflight(settings, flags.timeout);
			const origin = settings.baseUrl === undefined ? "" : ` (${settings.baseUrl.origin})`;
			return ok("address", `requests go to ${doctor.reach.baseUrl}${origin}`);
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
			doctor.isTrustKnown = true;
			const [caFile] = doctor.settings.caFiles;
			return caFile && ok("ca_file", `the certificates in ${caFile.value} are trusted as well`);
		},
	},
	{
		name: "proxy",
		check: (doctor) => {
			if (doctor.reach === undefined) return undefined;
			doctor.route = doctor.reach.route();
			return proxyCheck(doctor.route);
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
			if (free === undefined) return ok(STORAGE, where);
			const text = `${where}; ${bytesText(free)} free`;
			if (free >= LITTLE_SPACE) return ok(STORAGE, text);
			const hint =
				"A run stops when its records no longer fit. Free some space, remove old records with ragtag runs prune, or name another folder with --state-dir DIR.";
			return warning(STORAGE, text, hint);
		},
	},
];

export function proxyCheck(route: SafeRoute): Check {
	const name = "proxy";
	if (route.kind === "proxy") {
		return ok(name, `requests go through the proxy ${route.address} (${route.variable})`);
	}
	switch (route.why) {
		case "loopback":
			return ok(name, "direct: a loopback address never uses a proxy");
		case "exempt":
			return ok(name, `direct: ${route.variable ?? "NO_PROXY"} exempts this host`);
		case "unset":
			return ok(name, "direct: no variable names a proxy for this address");
	}
}

/** Every setting with its origin. The key's value and a proxy's credentials are left out. */
export function shownSettings(
	settings: Settings,
	flags: DoctorFlags,
	route: SafeRoute | undefined,
): readonly ShownSetting[] {
	const show = (name: string, setting: { value: string | number; origin: string } | undefined): ShownSetting => ({
		name,
		value: setting?.value ?? null,
		origin: setting?.origin ?? null,
	});
	const { dataset, rate } = flags;
	const kept = settings.keepRuns.value;
	const proxy = route?.kind === "proxy" ? { value: route.address, origin: route.variable } : undefined;
	return [
		show("base_url", settings.baseUrl),
		{ name: "api_key", value: null, origin: settings.keyOrigin ?? null },
		show("profile", settings.profile),
		show("state_dir", settings.stateDir),
		show("ca_file", settings.caFiles[0]),
		show("proxy", proxy),
		show("dataset", dataset === undefined ? settings.dataset : { value: dataset, origin: "--dataset" }),
		show("rate", shownRate(settings, rate)),
		show("flavour", flavourSetting(settings, flags.flavour) ?? { value: "auto", origin: "default" }),
		show("body", settings.body ?? { value: "auto", origin: "default" }),
		show("limiter", settings.limiter && { ...settings.limiter, value: settings.limiter.value.host }),
		show("keep_runs", { ...settings.keepRuns, value: kept === "forever" ? kept : ageText(kept) }),
		show("policy", settings.policy && { ...settings.policy, value: policyText(settings.policy.value) }),
	];
}

/** The flavour that a flag or a setting gives, with its origin. */
export function flavourSetting(settings: Settings, flavour: DoctorFlags["flavour"]): Settings["flavour"] {
	return flavour === undefined ? settings.flavour : { value: flavour, origin: "--flavour" };
}

/** The rate that a flag or a setting gives, with its origin. */
export function rateSetting(settings: Settings, rate: DoctorFlags["rate"]): Settings["rate"] {
	return rate === undefined ? settings.rate : { value: rate, origin: "--rate" };
}

/** The same as it is shown: a timetable as text. */
function shownRate(settings: Settings, rate: DoctorFlags["rate"]): { value: string | number; origin: string } {
	const { value, origin } = rateSetting(settings, rate) ?? { value: ADVISED_RATE, origin: "default" };
	return { value: typeof value === "object" ? rateSettingText(value) : value, origin };
}

const DAY = 24 * 3600 * 1000;

/** Days. A certificate that ends sooner is a warning, early enough to have it renewed. */
const EXPIRY_WARNING_DAYS = 14;

/** The look-up of names and the TLS handshake, before any request. */
export async function* networkChecks({ reach, route, isTrustKnown }: Doctor): AsyncGenerator<Check> {
	if (reach === undefined || route === undefined) return;
	const host = route.kind === "proxy" ? route.host : reach.host;
	const whose = route.kind === "proxy" ? "of the proxy " : "";
	if (host.isLiteral) {
		yield skipped("dns", `${host.name} ${whose}is an address, so no name is looked up`);
	} else {
		const found = await reach.lookUp(host.name);
		yield lookUpCheck(host.name, found, route);
		if ("failure" in found) return;
	}
	if (!reach.isHttps) yield plainCheck(reach);
	else if (route.kind === "proxy") {
		yield skipped("tls", `TLS goes through the proxy ${route.address}: the first request shows whether it works`);
	} else if (isTrustKnown !== true)
		yield skipped("tls", "not checked, because the trusted certificates could not be read");
	else yield handshakeCheck(reach.baseUrl, await reach.shakeHands(), Date.now());
}

export function plainCheck({ isLoopback }: Pick<Preflight, "isLoopback">): Check {
	const name = "tls";
	if (isLoopback) return skipped(name, "the address is plain http, and requests stay on this machine");
	const text = "the address is plain http: the key and all metadata can be read on the network";
	return warning(name, text, "Use the https address, if the service has one.");
}

export function lookUpCheck(host: string, found: PreflightResult<readonly string[]>, route: SafeRoute): Check {
	if ("failure" in found) {
		const what = route.kind === "proxy" ? route.variable : "--base-url";
		const hint = `Check the host in ${what}, and this machine's network and name servers.`;
		const next = route.kind === "proxy" ? "ragtag doctor" : "ragtag doctor --base-url URL";
		return { name: "dns", status: "failed", text: found.failure.message, hint, exit: Exit.temporary, next };
	}
	const addresses = found.value.join(", ");
	const rest = route.kind === "proxy" ? "; the name of the service is looked up by the proxy" : "";
	return ok("dns", `${host} is ${addresses}${rest}`);
}

export function handshakeCheck(baseUrl: string, found: PreflightResult<Handshake>, now: number): Check {
	const name = "tls";
	if ("failure" in found) return handshakeFailure(found.failure);
	const { protocol, issuer, expires } = found.value;
	const days = Math.floor((expires - now) / DAY);
	const text = `${protocol}; the certificate is trusted, issued by ${show(issuer)}, and ends in ${days} ${days === 1 ? "day" : "days"}`;
	if (days >= EXPIRY_WARNING_DAYS) return ok(name, text);
	const { host } = new URL(baseUrl);
	return warning(name, text, `Ask those who run ${host} to renew it before it ends.`);
}

function handshakeFailure({ kind, code, message }: PreflightFailure): Check {
	const check = { name: "tls", status: "failed", text: message } as const;
	if (kind === "not_the_api") {
		return { ...check, hint: NOT_TLS_HINT, exit: Exit.temporary, next: "ragtag doctor --base-url URL" };
	}
	if (kind !== "untrusted") {
		const hint = "Check that the service is up, and that host and port in --base-url are right.";
		return { ...check, hint, exit: Exit.temporary, next: "ragtag doctor" };
	}
	return { ...check, hint: untrustedHint(code), exit: Exit.untrusted, next: untrustedNext(code) };
}
