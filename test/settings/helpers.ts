import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { SettingSources } from "../../src/settings.ts";
import { CliError } from "../../src/errors.ts";

export const KEY = "ragflow-Canary7Qx2Zp9Lm4";

/** Writes a file with exactly that mode, whatever the umask is. */
export async function file(path: string, text: string, mode = 0o600): Promise<string> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
	await chmod(path, mode);
	return path;
}

export type World = SettingSources & { readonly warnings: string[]; asked: number };

export function world(env: Record<string, string> = {}, home?: string, input = ""): World {
	const warnings: string[] = [];
	const made: World = {
		env,
		home,
		warnings,
		asked: 0,
		warn: (text) => warnings.push(text),
		stdin: () => {
			made.asked++;
			return Promise.resolve(input);
		},
	};
	return made;
}

/** The error for the person at the terminal that a promise rejects with, message and hint as one text. */
export async function complaint(promise: Promise<unknown>): Promise<{ exit: number; text: string }> {
	try {
		await promise;
	} catch (error) {
		if (error instanceof CliError) return { exit: error.exit, text: `${error.message} ${error.hint ?? ""}` };
		throw error;
	}
	throw new Error("expected an error");
}
