import { execFile, type ExecFileException } from "node:child_process";
import { reason, usageError } from "../errors.ts";
import { redactor } from "../text/redactor.ts";
import { show } from "../text/show.ts";
import type { SettingSources } from "./types.ts";

/** 30 s: time to unlock a password manager by hand. */
const COMMAND_LIMIT_MS = 30_000;

/** Characters that a command may print: the key is on the first line. */
const MAX_OUTPUT_CHARACTERS = 1024 * 1024;

/** Lines of standard output that are masked in standard error: an entry of a password manager has few. */
const MASKED_LINES = 50;

/** Characters of standard error that are shown. */
const MAX_SHOWN_CHARACTERS = 400;

/** Anything that looks like a key: a long word with digits. A command may print a key that is not the one it was asked for. */
const KEY_LIKE = /(?=[\w~+=-]*\d)[\w~+=-]{16,}/g;

/**
 * The first line that a command prints. It is run by the shell, and can't read standard input.
 *
 * No message repeats its standard output. Of its standard error, a message repeats the beginning without anything that was on
 * standard output or looks like a key.
 */
export async function keyFromCommand(
	command: string,
	origin: string,
	{ env, signal, warn }: Pick<SettingSources, "env" | "signal" | "warn">,
	limit = COMMAND_LIMIT_MS,
): Promise<string> {
	const name = origin.startsWith("profile ") ? `the api_key_command of ${origin}` : `the command of ${origin}`;
	// The key in the environment may be for another service.
	const { RAGTAG_API_KEY: _, ...others } = env;
	const options = {
		env: others,
		timeout: limit,
		killSignal: "SIGKILL",
		signal,
		maxBuffer: MAX_OUTPUT_CHARACTERS,
	} as const;
	const { error, stdout, stderr } = await new Promise<Ended>((resolve) => {
		const child = execFile("/bin/sh", ["-c", command], options, (...[error, stdout, stderr]) =>
			resolve({ error, stdout, stderr }),
		);
		child.stdin?.end();
	});
	if (signal?.aborted === true) throw new Error("stopped");
	const said = outputText(stdout, stderr);
	if (error !== null) {
		throw usageError(
			`${name} ${faultOf(error, limit)}${said === "" ? "" : `: ${said}`}`,
			"Run that command by itself: it must print the key as its first line.",
		);
	}
	if (said !== "") warn(`${name} says: ${said}`);
	return /^[^\n]*\n?/.exec(stdout)?.[0] ?? "";
}

type Ended = { readonly error: ExecFileException | null; readonly stdout: string; readonly stderr: string };

function faultOf(error: ExecFileException, limit: number): string {
	const { code, killed, signal } = error;
	if (typeof code === "number") return `failed with exit code ${code}`;
	if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "printed more than a megabyte";
	if (typeof code === "string") return `could not be run: ${reason(error)}`;
	return killed === true ? `did not end within ${limit / 1000} seconds` : `was ended by ${signal ?? "a signal"}`;
}

/** The beginning of what a command says on standard error, in one line, and without a key. */
function outputText(stdout: string, stderr: string): string {
	const secrets = stdout.split("\n", MASKED_LINES).map((line) => line.trim());
	const masked = secrets.filter((line) => line !== "").reduce((text, secret) => redactor(secret)(text), stderr);
	const line = show(masked.replaceAll(KEY_LIKE, "***").trim().replaceAll(/\s+/g, " "));
	return line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS)}...` : line;
}
