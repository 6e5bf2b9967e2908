import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CliError, reason, usageError } from "../errors.ts";
import { checkedAddress } from "./address.ts";
import { readPrivateFile } from "./private-file.ts";
import { FILE, type RawProfile } from "./profile-schema.ts";
import type { SettingSources } from "./types.ts";
import { type ProblemAt, readYaml } from "./yaml-file.ts";

/** One profile of config.yaml, checked. Paths are absolute. Only `src/session.ts`, which knows the flavours, checks that name. */
export type Profile = ReturnType<typeof profileOf>;

/** The profile of that name in config.yaml, checked. */
export async function readProfile(name: string, origin: string, sources: SettingSources): Promise<Profile> {
	const file = configPath(sources);
	let text: string;
	try {
		({ text } = await readPrivateFile(file, "the file of profiles", sources.uid));
	} catch (error) {
		if (!(error instanceof CliError)) throw error;
		throw usageError(
			`profile ${JSON.stringify(name)} of ${origin}: ${error.message}`,
			error.hint ?? `Write it, beginning with the line "profiles:", or unset ${origin}.`,
			error,
		);
	}
	return parseProfile(text, file, name, sources.home);
}

/**
 * Reads one profile from the text of config.yaml.
 *
 * It checks all profiles, so that a mistyped member is found before the day when its profile is needed.
 */
export async function parseProfile(text: string, file: string, name: string, home?: string): Promise<Profile> {
	const { problem, profiles } = parseProfiles(text, file);
	const checked = Array.from(profiles, ([key, value]) => profileOf(key, value, { file, home, problem }));
	const chosen = checked.find((profile) => profile.name === name);
	if (chosen !== undefined) return chosen;
	const names = Array.from(profiles.keys(), (known) => JSON.stringify(known)).join(", ");
	const hint = names === "" ? "It has none." : `It has ${names}.`;
	throw usageError(`there is no profile ${JSON.stringify(name)} in ${file}`, hint);
}

/** The names of all profiles of config.yaml, in its order; none if there is no such file. @throws CliError exit 2 */
export async function profileNames(sources: Pick<SettingSources, "env" | "home" | "uid">): Promise<readonly string[]> {
	const file = configPath(sources);
	if (!existsSync(file)) return [];
	const { text } = await readPrivateFile(file, "the file of profiles", sources.uid);
	return [...parseProfiles(text, file).profiles.keys()];
}

function configPath({ env, home }: Pick<SettingSources, "env" | "home">): string {
	const folder = env["XDG_CONFIG_HOME"];
	// The XDG specification says to ignore a relative folder.
	if (folder?.startsWith("/")) return join(folder, "ragtag", "config.yaml");
	if (home !== undefined) return join(home, ".config", "ragtag", "config.yaml");
	throw usageError(
		"there is no home folder to look for profiles in",
		"Set HOME or XDG_CONFIG_HOME, or give the address in RAGTAG_BASE_URL.",
	);
}

function parseProfiles(text: string, file: string): { problem: ProblemAt; profiles: ReadonlyMap<string, RawProfile> } {
	const { value, problem } = readYaml(text, file, FILE, (path) => {
		const name = path.findLast((key) => typeof key === "string") ?? "the file of profiles";
		return path.length === 2 ? `profile ${JSON.stringify(name)}` : name;
	});
	return { problem, profiles: value.profiles ?? new Map() };
}

/** The base of relative paths in the file. */
type Place = { readonly file: string; readonly home: string | undefined; readonly problem: ProblemAt };

/** A profile by its members. Paths are made absolute: `~/` is the home folder, others are relative to config.yaml's. */
function profileOf(name: string, raw: RawProfile, { file, home, problem }: Place) {
	const at = ["profiles", name];
	const path = (member: "api_key_file" | "ca_file"): string | undefined => {
		const text = raw[member];
		if (text?.startsWith("~/") !== true) return text && resolve(dirname(file), text);
		if (home !== undefined) return join(home, text.slice(2));
		throw problem([...at, member], `${member} must be a path without ~, as there is no home folder`);
	};
	let baseUrl: string | undefined;
	try {
		baseUrl = raw.base_url && checkedAddress({ value: raw.base_url, origin: `profile ${name}` }).value;
	} catch (error) {
		throw problem([...at, "base_url"], reason(error), true);
	}
	const what = `profile ${JSON.stringify(name)}`;
	const { api_key_file: keyFile, api_key_command: keyCommand } = raw;
	if (keyFile !== undefined && keyCommand !== undefined) {
		throw problem(at, `${what} has an api_key_file and an api_key_command: remove one of them`, true);
	}
	if ((keyFile ?? keyCommand) !== undefined && baseUrl === undefined) {
		throw problem(at, `${what} has a key but no base_url: a profile's key goes only to its own address`, true);
	}
	const { dataset, rate, body, flavour, policy, require_https: requireHttps, ping, limiter, keep_runs } = raw;
	const files = { apiKeyFile: path("api_key_file"), apiKeyCommand: keyCommand, caFile: path("ca_file") };
	const sending = { dataset, rate, body, flavour, policy, requireHttps, ping, limiter, keepRuns: keep_runs };
	return { name, baseUrl, ...files, ...sending };
}
