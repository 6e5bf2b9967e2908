import { show } from "../text/show.ts";
import type { GlobalFlags } from "./flags.ts";

/** A command with the global flags of this call, except those that it has already. */
export function withFlags(command: string, flags: GlobalFlags): string {
	const again = pairsOf(flags).flatMap(([flag, value]) =>
		command.includes(` ${flag} `) ? [] : [` ${flag} ${quoted(value)}`],
	);
	return command + again.join("");
}

/** The command that resumes a run, with the same shared cap. */
export function resumeCommand(run: string, flags: GlobalFlags): string {
	const command = withFlags(`ragtag runs resume ${run}`, flags);
	const { limiter } = flags;
	// An address with a password is left out: commands are printed and logged.
	return limiter === undefined || limiter.includes("@") ? command : `${command} --limiter ${quoted(limiter)}`;
}

/** The global flags of this call, flag and value in turn. */
export function globalFlags(flags: GlobalFlags): string[] {
	return pairsOf(flags).flatMap(([flag, value]) => [flag, value]);
}

function pairsOf({ profile, baseUrl, apiKeyFile, apiKeyCommand, caFile, stateDir }: GlobalFlags): [string, string][] {
	const flags = {
		"--profile": profile,
		"--base-url": baseUrl,
		"--api-key-file": apiKeyFile,
		"--api-key-command": apiKeyCommand,
		"--ca-file": caFile,
		"--state-dir": stateDir,
	};
	return Object.entries(flags).flatMap(([flag, value]): [string, string][] =>
		value === undefined ? [] : [[flag, value]],
	);
}

/** A word, quoted for a shell if it needs quotes. One with control characters is quoted as bash and zsh read it, on one line. */
export function quoted(word: string): string {
	if (/\p{Cc}/u.test(word)) return `$'${show(word.replaceAll(/[\\']/g, String.raw`\$&`), Number.POSITIVE_INFINITY)}'`;
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
