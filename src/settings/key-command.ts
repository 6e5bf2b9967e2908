import { spawn } from "node:child_process";
import { type CliError, reason, usageError } from "../errors.ts";
import { redactor } from "../text/redactor.ts";
import { show } from "../text/show.ts";
import type { SettingSources } from "./types.ts";

/** 30 s: time to unlock a password manager by hand. */
const COMMAND_LIMIT_MS = 30_000;

/** 64 KiB: the key is on the first line. */
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

/** Lines of standard output that are masked in standard error: an entry of a password manager has few. */
const MASKED_LINES = 50;

/** Characters of standard error that are shown. */
const MAX_SHOWN_CHARACTERS = 400;

/** Anything that looks like a key: a long word with digits. A command may print a key that is not the one it was asked for. */
const KEY_LIKE = /(?=[\w~+=-]*\d)[\w~+=-]{16,}/g;

/** Output of a command that is still running. */
type Output = { stdout: string; stderr: string };

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
	const output: Output = { stdout: "", stderr: "" };
	const failed = (what: string): CliError => {
		const said = outputText(output);
		return usageError(
			`${name} ${what}${said === "" ? "" : `: ${said}`}`,
			"Run that command by itself: it must print the key as its first line.",
		);
	};
	// The key in the environment may be for another service.
	const { RAGTAG_API_KEY: _, ...others } = env;
	const key = await new Promise<string>((resolve, reject) => {
		const child = spawn("/bin/sh", ["-c", command], { env: others, stdio: ["ignore", "pipe", "pipe"] });
		const end = (why: unknown): void => {
			child.kill("SIGKILL");
			// A child of the shell may live longer and keep the pipes open. Do not wait for it.
			child.stdout.destroy();
			child.stderr.destroy();
			child.unref();
			reject(why);
		};
		const timer = setTimeout(() => end(failed(`did not end within ${limit / 1000} seconds`)), limit);
		const stop = (): void => end(new Error("stopped"));
		if (signal?.aborted === true) stop();
		signal?.addEventListener("abort", stop, { once: true });
		for (const stream of ["stdout", "stderr"] as const) {
			child[stream].setEncoding("utf8").on("data", (text: string) => {
				if (output[stream].length < MAX_OUTPUT_CHARACTERS) output[stream] += text;
			});
		}
		child.on("error", (error) => {
			clearTimeout(timer);
			reject(failed(`could not be started: ${reason(error)}`));
		});
		child.on("close", (code, by) => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", stop);
			if (code === 0) resolve(/^[^\n]*\n?/.exec(output.stdout)?.[0] ?? "");
			else reject(failed(code === null ? `was ended by ${by ?? "a signal"}` : `failed with exit code ${code}`));
		});
	});
	const said = outputText(output);
	if (said !== "") warn(`${name} says: ${said}`);
	return key;
}

/** The beginning of what a command says on standard error, in one line, and without a key. */
function outputText({ stdout, stderr }: Output): string {
	const secrets = stdout.split("\n", MASKED_LINES).map((line) => line.trim());
	const masked = secrets.filter((line) => line !== "").reduce((text, secret) => redactor(secret)(text), stderr);
	const line = show(masked.replaceAll(KEY_LIKE, "***").trim().replaceAll(/\s+/g, " "));
	return line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS)}...` : line;
}
