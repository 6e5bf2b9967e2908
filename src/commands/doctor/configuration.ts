import type { App, Settings } from "../../app.ts";
import type { Check, ShownSetting } from "../../report/checks.ts";
import type { Preflight, SafeRoute } from "../../rest/preflight.ts";
import { rateSettingText } from "../../rates.ts";
import { ADVISED_RATE } from "../../run/rate/concurrency.ts";
import { policyText } from "../../plan/policy.ts";
import type { ServiceFlags } from "../../flags/flags.ts";
import { attempt, failed } from "./check-results.ts";
import { probeStorage } from "../../run/storage/folders.ts";
import { show } from "../../text/show.ts";
import { ageText } from "../../text/times.ts";
import { bytesText } from "../../text/words.ts";

export type DoctorFlags = ServiceFlags & { readonly dataset?: string; readonly json?: boolean };

/** Values for the later checks. A value that could not be read is undefined, and a failed check says why. */
export type Configuration = {
	/** used only for masking */
	readonly key: string | undefined;
	readonly reach: Preflight | undefined;
	readonly route: SafeRoute | undefined;
	readonly isTrustKnown: boolean;
	readonly checks: readonly Check[];
};

/** Reads the files that the settings name. Nothing is sent. */
export async function configure(settings: Settings, flags: DoctorFlags, app: App): Promise<Configuration> {
	const checks: Check[] = [];
	const reach = await attempt(() => app.preflight(settings, flags.timeout));
	if ("value" in reach) checks.push(addressCheck(reach.value, settings));
	else checks.push(failed("address", reach.error, "ragtag doctor --base-url URL"));

	const key = await attempt(() => settings.key());
	// Only the service knows whether the key is accepted.
	if ("error" in key) checks.push(failed("key", key.error, "ragtag doctor --api-key-file PATH"));

	const trust = await attempt(() => settings.readCa());
	const [caFile] = settings.caFiles;
	if ("error" in trust) checks.push(failed("ca_file", trust.error, "ragtag doctor --ca-file PATH"));
	else if (caFile !== undefined) {
		checks.push({ name: "ca_file", status: "ok", text: `the certificates in ${caFile.value} are trusted as well` });
	}

	const route = "value" in reach ? await attempt(() => reach.value.route()) : undefined;
	if (route !== undefined) checks.push("error" in route ? failed("proxy", route.error) : proxyCheck(route.value));
	checks.push(await storageCheck(settings, app));
	return {
		key: "value" in key ? key.value : undefined,
		reach: "value" in reach ? reach.value : undefined,
		route: route !== undefined && "value" in route ? route.value : undefined,
		isTrustKnown: "value" in trust,
		checks,
	};
}

function addressCheck({ baseUrl }: Preflight, { baseUrl: setting }: Settings): Check {
	const origin = setting === undefined ? "" : ` (${setting.origin})`;
	return { name: "address", status: "ok", text: `requests go to ${baseUrl}${origin}` };
}

export function proxyCheck(route: SafeRoute): Check {
	const name = "proxy";
	if (route.kind === "proxy") {
		return { name, status: "ok", text: `requests go through the proxy ${route.address} (${route.variable})` };
	}
	switch (route.why) {
		case "loopback":
			return { name, status: "ok", text: "direct: a loopback address never uses a proxy" };
		case "exempt":
			return { name, status: "ok", text: `direct: ${route.variable ?? "NO_PROXY"} exempts this host` };
		case "unset":
			return { name, status: "ok", text: "direct: no variable names a proxy for this address" };
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
		show("keep_runs", { ...settings.keepRuns, value: keepRunsText(settings.keepRuns.value) }),
		show("policy", settings.policy && { ...settings.policy, value: policyText(settings.policy.value) }),
	];
}

function keepRunsText(value: Settings["keepRuns"]["value"]): string {
	return value === "forever" ? value : ageText(value);
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

export const STORAGE = "storage";

/** Bytes. With less free space a long run may fill the disk: a hundred thousand rows with their before-images. */
const LITTLE_SPACE = 500_000_000;

/** Whether runs can be recorded where the settings say. A file is written there, and removed. */
export async function storageCheck(settings: Settings, app: App): Promise<Check> {
	const next = "ragtag doctor --state-dir DIR";
	const runs = await attempt(() => app.runs(settings));
	if ("error" in runs) return failed(STORAGE, runs.error, next);
	const { folder } = runs.value;
	const free = await attempt(async () => {
		runs.value.secure();
		return probeStorage(folder);
	});
	if ("error" in free) return failed(STORAGE, free.error, next);
	const where = `runs are recorded in ${show(folder)}`;
	if (free.value === undefined) return { name: STORAGE, status: "ok", text: where };
	const text = `${where}; ${bytesText(free.value)} free`;
	if (free.value >= LITTLE_SPACE) return { name: STORAGE, status: "ok", text };
	const hint =
		"A run stops when its records no longer fit. Free some space, remove old records with ragtag runs prune, or name another folder with --state-dir DIR.";
	return { name: STORAGE, status: "warning", text, hint };
}
