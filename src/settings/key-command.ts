import { spawn } from "node:child_process";
import { CliError, Exit, reason } from "../errors.ts";
import type { SettingSources } from "./types.ts";

/** 30 seconds: time to unlock a password manager by hand. */
const COMMAND_LIMIT_MS = 30_000;
/** 64 KiB of output: a key is on the first line. */
const MOST_OUTPUT = 64 * 1024;

/**
 * The first line that a profile's `api_key_command` prints.
 *
 * What the command prints is never repeated, not even its errors: it may hold the key.
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
	// A key of another service is none of this command's business.
	const { RAGTAG_API_KEY: _, ...others } = env;
	return new Promise((resolve, reject) => {
		const child = spawn("/bin/sh", ["-c", command], { env: others, stdio: ["ignore", "pipe", "ignore"] });
		let output = "";
		const end = (why: unknown): void => {
			child.kill("SIGKILL");
			// What the shell started may outlive it and hold the pipe: do not wait for that.
			child.stdout.destroy();
			child.unref();
			reject(why);
		};
		const timer = setTimeout(() => end(failed(`did not end within ${limit / 1000} seconds`)), limit);
		const stop = (): void => end(new Error("stopped"));
		if (signal?.aborted === true) stop();
		signal?.addEventListener("abort", stop, { once: true });
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			if (output.length < MOST_OUTPUT) output += text;
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
