import { access } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { LineCounter, parseDocument, type YAMLMap } from "yaml";
import { type BodyChoice, bodyForms } from "../body-forms.ts";
import { CliError, Exit, reason } from "../errors.ts";
import { parseRateSetting, RATE_FORMS, type RateSetting } from "../rates.ts";
import { millisecondsIn } from "../text/times.ts";
import { alternatives } from "../text/words.ts";
import { checkedAddress } from "./address.ts";
import { limiterUrl } from "./limiter.ts";
import { pingUrl } from "./ping.ts";
import { policyOf } from "./policy.ts";
import { readPrivateFile } from "./private-file.ts";
import type { KeepRuns, Profile, SettingSources } from "./types.ts";
import { type Key, type Member, YamlReader } from "./yaml-reader.ts";

/** The profile of that name in config.yaml, checked. */
export async function readProfile(name: string, origin: string, sources: SettingSources): Promise<Profile> {
	const file = configPath(sources);
	let text: string;
	try {
		({ text } = await readPrivateFile(file, "the file of profiles", sources.uid));
	} catch (error) {
		if (!(error instanceof CliError)) throw error;
		throw new CliError(`profile ${JSON.stringify(name)} of ${origin}: ${error.message}`, {
			exit: Exit.usage,
			hint: error.hint ?? `Write it, beginning with the line "profiles:", or unset ${origin}.`,
			cause: error,
		});
	}
	return parseProfile(text, file, name, sources.home);
}

/**
 * Reads one profile from the text of config.yaml.
 *
 * It checks all profiles, so that a mistyped member is found before the day when its profile is needed.
 */
export async function parseProfile(text: string, file: string, name: string, home?: string): Promise<Profile> {
	const { reader, members } = parseProfiles(text, file);
	const names: string[] = [];
	let chosen: Profile | undefined;
	for (const { key, value } of members) {
		names.push(key.text);
		const profile = profileOf(reader, key, value, { file, home });
		if (key.text === name) chosen = profile;
	}
	if (chosen !== undefined) return chosen;
	const there =
		names.length === 0 ? "It has none." : `It has ${names.map((known) => JSON.stringify(known)).join(", ")}.`;
	throw new CliError(`there is no profile ${JSON.stringify(name)} in ${file}`, { exit: Exit.usage, hint: there });
}

/** The names of all profiles of config.yaml, in its order; none if there is no such file. @throws CliError exit 2 */
export async function profileNames(sources: Pick<SettingSources, "env" | "home" | "uid">): Promise<readonly string[]> {
	const file = configPath(sources);
	const isThere = await access(file).then(
		() => true,
		() => false,
	);
	if (!isThere) return [];
	const { text } = await readPrivateFile(file, "the file of profiles", sources.uid);
	return parseProfiles(text, file).members.map(({ key }) => key.text);
}

type ParsedProfiles = { readonly reader: YamlReader; readonly members: readonly Member[] };

function parseProfiles(text: string, file: string): ParsedProfiles {
	const lines = new LineCounter();
	const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
	const reader = new YamlReader(file, lines);
	const [problem] = [...document.errors, ...document.warnings];
	if (problem !== undefined) throw reader.problem(problem.pos[0], reason(problem));
	let profiles: YAMLMap | undefined;
	for (const { key, value } of reader.members(document.contents, "the file of profiles")) {
		if (key.text !== "profiles") throw reader.problem(key.offset, `unknown member ${JSON.stringify(key.text)}`);
		profiles = reader.map(value, "profiles", key.offset);
	}
	return { reader, members: profiles === undefined ? [] : [...reader.members(profiles, "profiles")] };
}

function configPath({ env, home }: Pick<SettingSources, "env" | "home">): string {
	const folder = env["XDG_CONFIG_HOME"];
	// The XDG specification says to ignore a relative folder.
	if (folder?.startsWith("/")) return join(folder, "ragtag", "config.yaml");
	if (home !== undefined) return join(home, ".config", "ragtag", "config.yaml");
	throw new CliError("there is no home folder to look for profiles in", {
		exit: Exit.usage,
		hint: "Set HOME or XDG_CONFIG_HOME, or give the address in RAGTAG_BASE_URL.",
	});
}

type Draft = { -readonly [Member in keyof Profile]: Profile[Member] };

/** The base of relative paths in the file. */
type Folders = { readonly file: string; readonly home: string | undefined };

/** One profile of config.yaml, from its YAML node. */
function profileOf(reader: YamlReader, key: Key, node: unknown, folders: Folders): Profile {
	const profile: Draft = { name: key.text };
	const what = `profile ${JSON.stringify(key.text)}`;
	for (const member of reader.members(reader.map(node, what, key.offset), what)) {
		const read = MEMBERS.get(member.key.text);
		if (read === undefined) {
			const known = [...MEMBERS.keys()].join(", ");
			throw reader.problem(member.key.offset, `unknown member ${JSON.stringify(member.key.text)}; known: ${known}`);
		}
		read(profile, member, reader, folders);
	}
	const hasKey = profile.apiKeyFile !== undefined || profile.apiKeyCommand !== undefined;
	if (profile.apiKeyFile !== undefined && profile.apiKeyCommand !== undefined) {
		throw reader.problem(key.offset, `${what} has an api_key_file and an api_key_command: remove one of them`);
	}
	if (hasKey && profile.baseUrl === undefined) {
		throw reader.problem(key.offset, `${what} has a key but no base_url: a profile's key goes only to its own address`);
	}
	return profile;
}

type Read = (profile: Draft, member: Member, reader: YamlReader, folders: Folders) => void;

const MEMBERS: ReadonlyMap<string, Read> = new Map<string, Read>([
	[
		"base_url",
		(profile, member, reader) => {
			const setting = { value: text(member, reader), origin: `profile ${profile.name}` };
			try {
				profile.baseUrl = checkedAddress(setting).value;
			} catch (error) {
				throw reader.problem(member.key.offset, reason(error));
			}
		},
	],
	["api_key_file", (profile, member, reader, folders) => (profile.apiKeyFile = path(member, reader, folders))],
	["api_key_command", (profile, member, reader) => (profile.apiKeyCommand = text(member, reader))],
	["ca_file", (profile, member, reader, folders) => (profile.caFile = path(member, reader, folders))],
	["dataset", (profile, member, reader) => (profile.dataset = text(member, reader))],
	["rate", (profile, member, reader) => (profile.rate = rate(member, reader))],
	["body", (profile, member, reader) => (profile.body = body(member, reader))],
	["flavour", (profile, member, reader) => (profile.flavour = text(member, reader))],
	["policy", (profile, member, reader) => (profile.policy = policyOf(member, reader))],
	[
		"require_https",
		(profile, member, reader) => {
			const value = reader.scalar(member.value);
			if (typeof value !== "boolean") throw reader.mismatch(member, "true or false");
			profile.requireHttps = value;
		},
	],
	[
		"ping",
		(profile, member, reader) => {
			const url = text(member, reader);
			try {
				profile.ping = pingUrl(url, "ping").href;
			} catch {
				throw reader.mismatch(member, "an http or https address without a user name");
			}
		},
	],
	[
		"limiter",
		(profile, member, reader) => {
			const url = text(member, reader);
			try {
				profile.limiter = limiterUrl(url, "limiter").href;
			} catch {
				throw reader.mismatch(member, "the address of a Redis, as in redis://HOST:6379/0");
			}
		},
	],
	["keep_runs", (profile, member, reader) => (profile.keepRuns = keepRuns(member, reader))],
]);

function text(member: Member, reader: YamlReader): string {
	const value = reader.scalar(member.value);
	if (typeof value !== "string") throw reader.mismatch(member, "text (put it in quotes if it looks like a number)");
	if (value === "") throw reader.mismatch(member, "text that is not empty");
	return value;
}

/** An absolute path: `~/` is the home folder, and other relative paths are relative to the folder of config.yaml. */
function path(member: Member, reader: YamlReader, { file, home }: Folders): string {
	const value = text(member, reader);
	if (!value.startsWith("~/")) return resolve(dirname(file), value);
	if (home === undefined) throw reader.mismatch(member, "a path without ~, as there is no home folder");
	return join(home, value.slice(2));
}

function rate(member: Member, reader: YamlReader): RateSetting {
	const value = reader.scalar(member.value);
	if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
	const setting = typeof value === "string" ? parseRateSetting(value) : undefined;
	if (setting !== undefined) return setting;
	throw reader.mismatch(member, RATE_FORMS);
}

/** A bare number is refused: as seconds it would remove nearly all records. */
function keepRuns(member: Member, reader: YamlReader): KeepRuns {
	const value = reader.scalar(member.value);
	if (value === "forever") return value;
	const age = typeof value === "string" && /^\d+[hdw]$/.test(value) ? millisecondsIn(value) : undefined;
	if (age !== undefined) return age;
	throw reader.mismatch(member, "a time, as in 12h, 90d or 8w, or forever");
}

function body(member: Member, reader: YamlReader): BodyChoice {
	const value = reader.scalar(member.value);
	const choice = (["auto", ...bodyForms] as const).find((each) => each === value);
	if (choice !== undefined) return choice;
	throw reader.mismatch(member, alternatives(["auto", ...bodyForms]));
}
