import { readFile } from "node:fs/promises";
import type { App } from "../../app.ts";
import { errorCode, Exit, type ExitCode, reason } from "../../errors.ts";
import { writeWhole } from "../../write-whole.ts";
import { annotate } from "./annotate.ts";
import { OUTPUTS } from "./outputs.ts";

/**
 * Writes every output that the command line asks for. A later call with another exit code writes them again, so that they say
 * the code with which the program ends. An output that can't be written is named on standard error, and the others are still
 * written.
 *
 * @returns the exit code: 74 for an output that could not be written, where the command was successful otherwise
 */
export async function writeOutputs(app: App, exit: ExitCode): Promise<ExitCode> {
	const { runEnd } = app;
	for (const code of [exit, Exit.output]) {
		if (runEnd.written === code) return code;
		await writeAll(app, code);
		runEnd.written = code;
		await annotate(app, code);
		if (code !== Exit.ok || runEnd.failures.size === 0) return code;
		// The outputs that were written say 0, and the exit code is 74 now.
	}
	return Exit.output;
}

async function writeAll({ runEnd, io, ci }: App, exit: ExitCode): Promise<void> {
	for (const output of OUTPUTS) {
		const path = output.path(runEnd.flags);
		if (exit === Exit.locked && output.isOfJob === true) continue;
		if (path === undefined || runEnd.isRefused(path) || runEnd.failures.has(path)) continue;
		try {
			const about = { path, workspace: ci.workspace, before: () => textOf(path) };
			const text = await output.text(runEnd.endOf(exit), about);
			await writeWhole(path, text, { mode: output.mode });
		} catch (error) {
			runEnd.failures.set(path, reason(error));
			io.err(`ragtag: ${output.flag} ${path}: ${reason(error)}`);
		}
	}
}

async function textOf(path: string): Promise<string | undefined> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}
