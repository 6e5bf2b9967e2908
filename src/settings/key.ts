import { spawn } from "node:child_process";
import { CliError, Exit, reason } from "../errors.ts";
import { readPrivateFile } from "./private-file.ts";
import type { Profile, SettingFlags, SettingSources } from "./types.ts";

/** Where the key is. It has not been read yet. */
export type KeySource =
	| { readonly kind: "text"; readonly text: string; readonly origin: string }
	| { readonly kind: "stdin"; readonly origin: string }
	| { readonly kind: "file"; readonly path: string; readonly origin: string }
	| { readonly kind: "command"; readonly command: string; readonly origin: string };

export const HOW_TO_GIVE_A_KEY =
	"Set RAGTAG_API_KEY, or RAGTAG_API_KEY_FILE to the path of a file; `ragtag sandbox` serves the API here and prints a key.";

/** The key's source outside profiles: the flag, else one of the two variables. */
export function givenKeySource(flags: SettingFlags, env: SettingSources["env"]): KeySource | undefined {
	const path = flags.apiKeyFile;
	if (path === "") throw new CliError("--api-key-file is empty", { exit: Exit.usage });
	if (path === "-") return { kind: "stdin", origin: "--api-key-file -" };
	if (path !== undefined) return { kind: "file", path, origin: "--api-key-file" };
	if (env["RAGTAG_API_KEY"]) return { kind: "text", text: env["RAGTAG_API_KEY"], origin: "RAGTAG_API_KEY" };
	if (env["RAGTAG_API_KEY_FILE"]) {
		return { kind: "file", path: env["RAGTAG_API_KEY_FILE"], origin: "RAGTAG_API_KEY_FILE" };
	}
	return undefined;
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
				throw new CliError(message, { exit: Exit.usage, cause: error });
			});
		case "command":
			return keyFromCommand(source.command, source.origin, sources);
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
	if (key === "")
		throw new CliError(`the API key from ${origin} is empty`, { exit: Exit.usage, hint: HOW_TO_GIVE_A_KEY });
	const where = quoteMarkIn(key);
	if (where !== undefined) {
		throw new CliError(`the API key from ${origin} ${where} a quote mark`, {
			exit: Exit.usage,
			hint: "Give the key without quotes. Shells remove them, but key files and env files keep them.",
		});
	}
	if (!/^[\x21-\x7e]+$/.test(key)) {
		throw new CliError(`the API key from ${origin} has characters that a key cannot have`, {
			exit: Exit.usage,
			hint: "It must be one line of plain characters, without spaces, quotes around it or a second line.",
		});
	}
	return key;
}

/** Where a key has a quote mark that does not belong to it, as a verb; undefined where it has none. */
function quoteMarkIn(key: string): string | undefined {
	const begins = /^["'‘’“”]/u.test(key);
	const ends = /["'‘’“”]$/u.test(key);
	if (begins && ends) return "begins and ends with";
	if (begins) return "begins with";
	return ends ? "ends with" : undefined;
}

/** 30 s: time to unlock a password manager by hand. */
const COMMAND_LIMIT_MS = 30_000;

/** 64 KiB: the key is on the first line. */
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

/**
 * The first line that a profile's `api_key_command` prints.
 *
 * No message repeats what the command prints, not even its errors: it may contain the key.
 */
export async function keyFromCommand(
	command: string,
	origin: string,
	{ env, signal }: Pick<SettingSources, "env" | "signal">,
	limit = COMMAND_LIMIT_MS,
): Promise<string> {
	const failed = (what: string): CliError =>
		new CliError(`the api_key_command of ${origin} ${what}`, {
			exit: Exit.usage,
			hint: "Run that command by itself: it must print the key as its first line.",
		});
	// The key in the environment may be for another service.
	const { RAGTAG_API_KEY: _, ...others } = env;
	return new Promise((resolve, reject) => {
		const child = spawn("/bin/sh", ["-c", command], { env: others, stdio: ["ignore", "pipe", "ignore"] });
		let output = "";
		const end = (why: unknown): void => {
			child.kill("SIGKILL");
			// A child of the shell may live longer and keep the pipe open. Do not wait for it.
			child.stdout.destroy();
			child.unref();
			reject(why);
		};
		const timer = setTimeout(() => end(failed(`did not end within ${limit / 1000} seconds`)), limit);
		const stop = (): void => end(new Error("stopped"));
		if (signal?.aborted === true) stop();
		signal?.addEventListener("abort", stop, { once: true });
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			if (output.length < MAX_OUTPUT_CHARACTERS) output += text;
		});
		child.on("error", (error) => {
			clearTimeout(timer);
			reject(failed(`could not be started: ${reason(error)}`));
		});
		child.on("close", (code, by) => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", stop);
			if (code === 0) resolve(/^[^\n]*\n?/.exec(output)?.[0] ?? "");
			else reject(failed(code === null ? `was ended by ${by ?? "a signal"}` : `failed with exit code ${code}`));
		});
	});
}
