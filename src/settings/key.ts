import { existsSync } from "node:fs";
import { join } from "node:path";
import { reason, usageError } from "../errors.ts";
import { readPrivateFile } from "./private-file.ts";
import type { Profile, SettingFlags, SettingSources } from "./types.ts";

/** The source of the key. It has not been read yet. */
export type KeySource =
	| { readonly kind: "text"; readonly text: string; readonly origin: string }
	| { readonly kind: "stdin"; readonly origin: string }
	| { readonly kind: "file"; readonly path: string; readonly origin: string }
	| { readonly kind: "command"; readonly command: string; readonly origin: string };

export const HOW_TO_GIVE_A_KEY =
	"Set RAGTAG_API_KEY, or RAGTAG_API_KEY_FILE to the path of a file; `ragtag sandbox` serves the API here and prints a key.";

/** The file of the key among the credentials that systemd gives a service (`LoadCredential=`). */
export const CREDENTIAL = "$CREDENTIALS_DIRECTORY/ragtag-api-key";

/** The key's source outside profiles: a flag, else the first of the variables, else a credential of systemd. */
export function givenKeySource(flags: SettingFlags, env: SettingSources["env"]): KeySource | undefined {
	const { apiKeyFile: path, apiKeyCommand } = flags;
	if (path === "") throw usageError("--api-key-file is empty");
	if (apiKeyCommand?.trim() === "") throw usageError("--api-key-command is empty");
	if (path !== undefined && apiKeyCommand !== undefined) {
		throw usageError("--api-key-file and --api-key-command exclude each other", "Give one of them.");
	}
	if (apiKeyCommand !== undefined) return { kind: "command", command: apiKeyCommand, origin: "--api-key-command" };
	if (path === "-") return { kind: "stdin", origin: "--api-key-file -" };
	if (path !== undefined) return { kind: "file", path, origin: "--api-key-file" };
	if (env["RAGTAG_API_KEY"]) return { kind: "text", text: env["RAGTAG_API_KEY"], origin: "RAGTAG_API_KEY" };
	if (env["RAGTAG_API_KEY_FILE"]) {
		return { kind: "file", path: env["RAGTAG_API_KEY_FILE"], origin: "RAGTAG_API_KEY_FILE" };
	}
	if (env["RAGTAG_API_KEY_COMMAND"]) {
		return { kind: "command", command: env["RAGTAG_API_KEY_COMMAND"], origin: "RAGTAG_API_KEY_COMMAND" };
	}
	const folder = env["CREDENTIALS_DIRECTORY"];
	if (!folder) return undefined;
	// A service may have credentials for other programs alone.
	const credential = join(folder, "ragtag-api-key");
	return existsSync(credential) ? { kind: "file", path: credential, origin: CREDENTIAL } : undefined;
}

export function profileKeySource(profile: Profile): KeySource | undefined {
	const origin = `profile ${profile.name}`;
	if (profile.apiKeyFile !== undefined) return { kind: "file", path: profile.apiKeyFile, origin };
	if (profile.apiKeyCommand !== undefined) return { kind: "command", command: profile.apiKeyCommand, origin };
	return undefined;
}

/** The key from its source, without line ends after it, and checked. No message repeats its text. */
export async function readKey(source: KeySource, sources: SettingSources): Promise<string> {
	return checkedKey(await rawKey(source, sources), source.origin);
}

async function rawKey(source: KeySource, sources: SettingSources): Promise<string> {
	switch (source.kind) {
		case "text":
			return source.text;
		case "stdin":
			return sources.stdin().catch((error: unknown) => {
				if (sources.signal?.aborted === true) throw error;
				const message = `cannot read the API key from standard input: ${reason(error)}`;
				throw usageError(message, undefined, error);
			});
		case "command":
			// Loaded late: it brings the code of child processes.
			return (await import("./key-command.ts")).keyFromCommand(source.command, source.origin, sources);
		case "file": {
			const { text, readableByAll } = await readPrivateFile(
				source.path,
				`the API key file of ${source.origin}`,
				sources.uid,
			);
			if (readableByAll) {
				sources.warn(`every user of this machine can read the API key file ${source.path}: chmod o-r '${source.path}'`);
			}
			return text;
		}
	}
}

/** Refuses a key with a space, a line end or an accent: the service would refuse it, or a header would cut it. */
function checkedKey(raw: string, origin: string): string {
	// An editor may leave an empty line at the end.
	const key = raw.replace(/[\r\n]+$/, "");
	if (key === "") throw usageError(`the API key from ${origin} is empty`, HOW_TO_GIVE_A_KEY);
	const where = quoteMarkIn(key);
	if (where !== undefined) {
		throw usageError(
			`the API key from ${origin} ${where} a quote mark`,
			"Give the key without quotes. Shells remove them, but key files and env files keep them.",
		);
	}
	if (!/^[\x21-\x7e]+$/.test(key)) {
		throw usageError(
			`the API key from ${origin} has characters that a key cannot have`,
			"It must be one line of plain characters, without spaces, quotes around it or a second line.",
		);
	}
	return key;
}

/** The place of a quote mark that does not belong to a key, as a verb; undefined if it has none. */
function quoteMarkIn(key: string): string | undefined {
	const begins = /^["'‘’“”]/u.test(key);
	const ends = /["'‘’“”]$/u.test(key);
	if (begins && ends) return "begins and ends with";
	if (begins) return "begins with";
	return ends ? "ends with" : undefined;
}
