import { existsSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../errors.ts";
import { checkedAddress, sameService } from "./address.ts";
import type { KeySource } from "./key.ts";
import type { Profile } from "./profile.ts";
import type { Setting, SettingFlags, SettingSources } from "./types.ts";

type Env = SettingSources["env"];

/**
 * The settings that a flag, a profile and a variable may each give, and the variables that a typed profile overrides with
 * another value.
 *
 * The command line wins: a flag, then the profile that `--profile` names. The variables go before a profile that
 * `RAGTAG_PROFILE` names.
 *
 * @param isTyped whether the flag named the profile
 */
export function chosenFrom(flags: SettingFlags, env: Env, profile: Profile | undefined, isTyped: boolean) {
	const { baseUrl, apiKeyFile, apiKeyCommand, caFile, limiter } = profile ?? {};
	const unused: string[] = [];
	const choose = <Source extends Setting<string>>(
		typed: Source | undefined,
		inProfile: Source | undefined,
		inEnv: Source | undefined,
	): Source | undefined => {
		if (typed !== undefined || !isTyped) return typed ?? inEnv ?? inProfile;
		const isOther = inProfile !== undefined && inEnv !== undefined && inProfile.value !== inEnv.value;
		if (isOther && !isSameService(inProfile.value, inEnv)) unused.push(inEnv.origin);
		return inProfile ?? inEnv;
	};
	const address = choose(
		flag("--base-url", flags.baseUrl),
		ofProfile(profile, baseUrl),
		variable(env, "RAGTAG_BASE_URL"),
	);
	const ownKey = keyIn("file", ofProfile(profile, apiKeyFile)) ?? keyIn("command", ofProfile(profile, apiKeyCommand));
	return {
		baseUrl: address && checkedAddress(address),
		keySource: choose(typedKey(flags), ownKey, keyOfEnvironment(env)),
		caFile: choose(flag("--ca-file", flags.caFile), ofProfile(profile, caFile), variable(env, "NODE_EXTRA_CA_CERTS")),
		limiter: choose(flag("--limiter", flags.limiter), ofProfile(profile, limiter), variable(env, "RAGTAG_LIMITER")),
		unused,
	};
}

function keyIn(kind: KeySource["kind"], setting: Setting<string> | undefined): KeySource | undefined {
	return setting && { kind, ...setting };
}

function typedKey({ apiKeyFile, apiKeyCommand }: SettingFlags): KeySource | undefined {
	const file = flag("--api-key-file", apiKeyFile);
	const command = flag("--api-key-command", apiKeyCommand?.trim() === "" ? "" : apiKeyCommand);
	if (file !== undefined && command !== undefined) {
		throw usageError("--api-key-file and --api-key-command exclude each other", "Give one of them.");
	}
	if (file?.value === "-") return { kind: "stdin", value: "-", origin: "--api-key-file -" };
	return keyIn("file", file) ?? keyIn("command", command);
}

/** The file of the key among the credentials that systemd gives a service (`LoadCredential=`). */
const CREDENTIAL = "$CREDENTIALS_DIRECTORY/ragtag-api-key";

/** The first of the variables, else a credential of systemd. */
function keyOfEnvironment(env: Env): KeySource | undefined {
	const given =
		keyIn("text", variable(env, "RAGTAG_API_KEY")) ??
		keyIn("file", variable(env, "RAGTAG_API_KEY_FILE")) ??
		keyIn("command", variable(env, "RAGTAG_API_KEY_COMMAND"));
	const folder = variable(env, "CREDENTIALS_DIRECTORY");
	if (given !== undefined || folder === undefined) return given;
	// A service may have credentials for other programs alone.
	const path = join(folder.value, "ragtag-api-key");
	return existsSync(path) ? { kind: "file", value: path, origin: CREDENTIAL } : undefined;
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
	if (profile?.baseUrl === undefined) return;
	const own = `profile ${profile.name}`;
	if (origin === own && !sameService(value, profile.baseUrl)) {
		throw usageError(
			`the key of ${own} goes only to ${profile.baseUrl}, and ${from} says ${value}`,
			`Give the key for ${value} with --api-key-file, leave the profile out, or leave ${from} out.`,
		);
	}
	const other = variable(env, "RAGTAG_BASE_URL");
	const isVariable = origin.startsWith("RAGTAG_") || origin === CREDENTIAL;
	if (!isVariable || from !== own || other === undefined || isSameService(value, other)) return;
	throw usageError(
		`${own} has an address and no key, and ${origin} may be the key of another service: RAGTAG_BASE_URL names one`,
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

export function ofProfile<Value>(profile: Profile | undefined, value: Value | undefined): Setting<Value> | undefined {
	return value === undefined ? undefined : { value, origin: `profile ${profile?.name ?? ""}` };
}
