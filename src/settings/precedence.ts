import { usageError } from "../errors.ts";
import { checkedAddress, sameService } from "./address.ts";
import { CREDENTIAL, givenKeySource, type KeySource, profileKeySource } from "./key.ts";
import type { Profile, Setting, SettingFlags, SettingSources } from "./types.ts";

type Env = SettingSources["env"];

/** The settings that a flag, a profile and a variable may each give. */
type Chosen = {
	readonly baseUrl: Setting<string> | undefined;
	readonly keySource: KeySource | undefined;
	readonly caFile: Setting<string> | undefined;
	readonly limiter: Setting<string> | undefined;
	/** variables that the typed profile overrides with another value */
	readonly unused: readonly string[];
};

/**
 * The command line wins: a flag, then the profile that `--profile` names. The variables go before a profile that
 * `RAGTAG_PROFILE` names.
 *
 * @param isTyped whether the flag named the profile
 */
export function chosenFrom(flags: SettingFlags, env: Env, profile: Profile | undefined, isTyped: boolean): Chosen {
	const ofProfile = (value: string | undefined): Setting<string> | undefined =>
		value === undefined ? undefined : { value, origin: `profile ${profile?.name ?? ""}` };
	const unused: string[] = [];
	const choose = <Source extends { readonly origin: string }>(
		typed: Source | undefined,
		inProfile: Source | undefined,
		inEnv: Source | undefined,
		isSame: (one: Source, other: Source) => boolean,
	): Source | undefined => {
		if (typed !== undefined || !isTyped) return first(typed, inEnv, inProfile);
		if (inProfile !== undefined && inEnv !== undefined && !isSame(inProfile, inEnv)) unused.push(inEnv.origin);
		return first(inProfile, inEnv);
	};

	const address = choose(
		flag("--base-url", flags.baseUrl),
		ofProfile(profile?.baseUrl),
		variable(env, "RAGTAG_BASE_URL"),
		(one, other) => isSameService(one.value, other),
	);
	const keySource = choose(
		givenKeySource(flags, {}),
		profile && profileKeySource(profile),
		givenKeySource({}, env),
		() => false,
	);
	const caFile = choose(
		flag("--ca-file", flags.caFile),
		ofProfile(profile?.caFile),
		variable(env, "NODE_EXTRA_CA_CERTS"),
		(one, other) => one.value === other.value,
	);
	const limiter = choose(
		flag("--limiter", flags.limiter),
		ofProfile(profile?.limiter),
		variable(env, "RAGTAG_LIMITER"),
		(one, other) => one.value === other.value,
	);
	return { baseUrl: address && checkedAddress(address), keySource, caFile, limiter, unused };
}

/**
 * Refuses to send a key to an address that it may not belong to. A profile's key goes to that profile's address alone. A key
 * in a variable does not go to a profile's address while a variable names another address. A typed address is always accepted.
 */
export function checkKeysTarget(
	{ origin }: KeySource,
	{ value, origin: from }: Setting<string>,
	profile: Profile | undefined,
	env: Env,
): void {
	const ofProfile = `profile ${profile?.name ?? ""}`;
	if (profile?.baseUrl === undefined) return;
	if (origin === ofProfile && !sameService(value, profile.baseUrl)) {
		throw usageError(
			`the key of ${ofProfile} goes only to ${profile.baseUrl}, and ${from} says ${value}`,
			`Give the key for ${value} with --api-key-file, leave the profile out, or leave ${from} out.`,
		);
	}
	const other = variable(env, "RAGTAG_BASE_URL");
	const isVariable = origin.startsWith("RAGTAG_") || origin === CREDENTIAL;
	if (!isVariable || from !== ofProfile || other === undefined || isSameService(value, other)) return;
	throw usageError(
		`${ofProfile} has an address and no key, and ${origin} may be the key of another service: RAGTAG_BASE_URL names one`,
		`Unset RAGTAG_BASE_URL to send the key of ${origin} to ${value}, or give --api-key-file, or name the profile's key in it.`,
	);
}

/** Whether two addresses are one service. The second is not checked, and may be no address. */
function isSameService(checked: string, other: Setting<string>): boolean {
	try {
		return sameService(checked, checkedAddress(other).value);
	} catch {
		return false;
	}
}

/** An empty flag is a usage error: it comes from a script's variable that was not set. */
export function flag(origin: string, value: string | undefined): Setting<string> | undefined {
	if (value === "") throw usageError(`${origin} is empty`);
	return value === undefined ? undefined : { value, origin };
}

/** An empty variable counts as unset. */
export function variable(env: Env, origin: string): Setting<string> | undefined {
	const value = env[origin];
	return value === undefined || value === "" ? undefined : { value, origin };
}

export function first<Source>(...sources: readonly (Source | undefined)[]): Source | undefined {
	return sources.find((source) => source !== undefined);
}
