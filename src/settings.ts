import { join } from "node:path";
import { CliError, Exit } from "./errors.ts";
import { checkedAddress, isLoopback, isPlainHttp, sameService } from "./settings/address.ts";
import { readCertificates } from "./settings/certificates.ts";
import { givenKeySource, HOW_TO_GIVE_A_KEY, type KeySource, profileKeySource, readKey } from "./settings/key.ts";
import { readProfile } from "./settings/profiles.ts";
import type { Profile, Setting, SettingFlags, Settings, SettingSources } from "./settings/types.ts";

export type { SettingFlags, Settings, SettingSources } from "./settings/types.ts";

/**
 * Every setting from the first that gives it: flag, environment, profile, default.
 *
 * An empty variable counts as unset, as CI systems set variables that a branch does not have to the empty text; an empty
 * flag is a usage error, as it is a script's variable that was not set.
 */
export async function resolveSettings(flags: SettingFlags, sources: SettingSources): Promise<Settings> {
	const { env } = sources;
	if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
		throw new CliError("NODE_TLS_REJECT_UNAUTHORIZED=0 turns the check of the service's certificate off", {
			exit: Exit.usage,
			hint: "Unset it, and give the certificate of your own authority with --ca-file.",
		});
	}
	const name = first(flag("--profile", flags.profile), variable(env, "RAGTAG_PROFILE"));
	const profile = name === undefined ? undefined : await readProfile(name.value, name.origin, sources);
	const ofProfile = <Value>(value: Value | undefined): Setting<Value> | undefined =>
		value === undefined ? undefined : { value, origin: `profile ${profile?.name ?? ""}` };

	const givenAddress = first(flag("--base-url", flags.baseUrl), variable(env, "RAGTAG_BASE_URL"));
	const baseUrl = givenAddress === undefined ? ofProfile(profile?.baseUrl) : checkedAddress(givenAddress);
	if (profile?.requireHttps === true && baseUrl !== undefined && isPlainHttp(baseUrl.value)) {
		throw new CliError(`profile ${profile.name} requires https, and the address in ${baseUrl.origin} is http`, {
			exit: Exit.usage,
		});
	}

	const keySource = givenKeySource(flags, env) ?? (profile === undefined ? undefined : profileKeySource(profile));
	const caFile = first(
		flag("--ca-file", flags.caFile),
		variable(env, "NODE_EXTRA_CA_CERTS"),
		ofProfile(profile?.caFile),
	);
	const caFiles = caFile === undefined ? [] : [caFile];
	let key: Promise<string> | undefined;

	return {
		baseUrl,
		requireBaseUrl: () => baseUrl ?? missingAddress(),
		// Read once: standard input can't be read again, and a password manager would ask again.
		key: () => (key ??= allowedKey(keySource, baseUrl, profile, sources)),
		keyOrigin: keySource?.origin,
		dataset: ofProfile(profile?.dataset),
		rate: ofProfile(profile?.rate),
		body: ofProfile(profile?.body),
		flavour: ofProfile(profile?.flavour),
		policy: ofProfile(profile?.policy),
		requireHttps: profile?.requireHttps ?? false,
		caFiles,
		readCa: () => Promise.all(caFiles.map(readCertificates)),
		stateDir: first(flag("--state-dir", flags.stateDir), variable(env, "RAGTAG_STATE_DIR"), defaultStateDir(sources)),
		profile: name,
	};
}

/** The key, if it may go to this address: a profile's key goes only to that profile's. */
async function allowedKey(
	source: KeySource | undefined,
	baseUrl: Setting<string> | undefined,
	profile: Profile | undefined,
	sources: SettingSources,
): Promise<string> {
	if (source === undefined) throw new CliError("no API key", { exit: Exit.usage, hint: HOW_TO_GIVE_A_KEY });
	if (profile?.baseUrl !== undefined && source.origin === `profile ${profile.name}`) {
		const { value, origin } = baseUrl ?? missingAddress();
		if (!sameService(value, profile.baseUrl)) {
			throw new CliError(
				`the key of profile ${profile.name} goes only to ${profile.baseUrl}, and ${origin} says ${value}`,
				{ exit: Exit.usage, hint: `Set RAGTAG_API_KEY to the key for ${value}, or unset ${origin}.` },
			);
		}
	}
	if (baseUrl !== undefined && isPlainHttp(baseUrl.value) && !isLoopback(baseUrl.value)) {
		sources.warn(`${baseUrl.value} is plain http: key and metadata can be read on the way`);
	}
	return readKey(source, sources);
}

function missingAddress(): never {
	throw new CliError("no address of the service", {
		exit: Exit.usage,
		hint: "Set RAGTAG_BASE_URL, as in RAGTAG_BASE_URL=https://rag.example.com; `ragtag sandbox` serves the API here and prints its address.",
	});
}

function defaultStateDir({ env, home }: SettingSources): Setting<string> | undefined {
	const folder = env["XDG_STATE_HOME"];
	// A relative XDG folder is to be ignored, says its specification.
	if (folder?.startsWith("/")) return { value: join(folder, "ragtag"), origin: "default" };
	return home === undefined ? undefined : { value: join(home, ".local", "state", "ragtag"), origin: "default" };
}

function flag(origin: string, value: string | undefined): Setting<string> | undefined {
	if (value === "") throw new CliError(`${origin} is empty`, { exit: Exit.usage });
	return value === undefined ? undefined : { value, origin };
}

function variable(env: SettingSources["env"], origin: string): Setting<string> | undefined {
	const value = env[origin];
	return value === undefined || value === "" ? undefined : { value, origin };
}

function first<Value>(...settings: readonly (Setting<Value> | undefined)[]): Setting<Value> | undefined {
	return settings.find((setting) => setting !== undefined);
}
