import { join } from "node:path";
import type { YAMLMap } from "yaml";
import { CliError, Exit, reason } from "../errors.ts";
import { readPrivateFile } from "./private-file.ts";
import { profileOf } from "./profile.ts";
import type { Profile, SettingSources } from "./types.ts";
import { YamlReader } from "./yaml-reader.ts";

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
 * Read config.yaml strictly and take one profile of it.
 *
 * All profiles are checked, because a mistyped member would otherwise wait in silence for the day it is needed.
 */
export async function parseProfile(text: string, file: string, name: string, home?: string): Promise<Profile> {
	// Loaded here: most calls use no profile, and the parser is a fifth of the program's start.
	const { LineCounter, parseDocument } = await import("./yaml.ts");
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
	const names: string[] = [];
	let chosen: Profile | undefined;
	for (const { key, value } of profiles === undefined ? [] : reader.members(profiles, "profiles")) {
		names.push(key.text);
		const profile = profileOf(reader, key, value, { file, home });
		if (key.text === name) chosen = profile;
	}
	if (chosen !== undefined) return chosen;
	const there =
		names.length === 0 ? "It has none." : `It has ${names.map((known) => JSON.stringify(known)).join(", ")}.`;
	throw new CliError(`there is no profile ${JSON.stringify(name)} in ${file}`, { exit: Exit.usage, hint: there });
}

function configPath({ env, home }: SettingSources): string {
	const folder = env["XDG_CONFIG_HOME"];
	// A relative XDG folder is to be ignored, says its specification.
	if (folder?.startsWith("/")) return join(folder, "ragtag", "config.yaml");
	if (home !== undefined) return join(home, ".config", "ragtag", "config.yaml");
	throw new CliError("there is no home folder to look for profiles in", {
		exit: Exit.usage,
		hint: "Set HOME or XDG_CONFIG_HOME, or give the address in RAGTAG_BASE_URL.",
	});
}
