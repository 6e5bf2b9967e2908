import { existsSync } from "node:fs";
import { appendFile, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { App } from "../../app.ts";
import { type ExitCode, reason } from "../../errors.ts";

/** 1 MiB: GitHub shows no summary of a step that is larger. */
const LARGEST_SUMMARY_BYTES = 1024 * 1024;

/**
 * The path of a file from the root of the repository, with slashes; undefined where there is no such file in it. Messages call
 * standard input and the manifest of a plan by names that are no paths.
 */
export function pathInWorkspace(file: string, workspace: string | undefined): string | undefined {
	const full = resolve(file);
	const path = relative(workspace ?? resolve("."), full);
	if (path === "" || path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path) || !existsSync(full))
		return undefined;
	return path.split(sep).join("/");
}

/**
 * Annotates the lines of a manifest in GitHub, where that is asked for, and appends to the summary of the step. The lines go
 * to standard error: GitHub's runner reads both streams, and results on standard output stay what they are.
 */
export async function annotate({ runEnd, io, ci }: App, exit: ExitCode): Promise<void> {
	if (runEnd.flags.annotations !== "github" || runEnd.isAnnotated) return;
	runEnd.isAnnotated = true;
	const [{ githubLines }, { stepSummaryText }] = await Promise.all([
		import("./github.ts"),
		import("./step-summary.ts"),
	]);
	const end = runEnd.endOf(exit);
	// With --progress json, standard error holds JSON alone.
	if (runEnd.flags.progress !== "json") {
		for (const line of githubLines(end, (file) => pathInWorkspace(file, ci.workspace))) io.annotation(line);
	}
	if (ci.stepSummary === undefined) return;
	try {
		await appendSummary(ci.stepSummary, stepSummaryText(end));
	} catch (error) {
		io.note(`The summary of the step was not written: ${reason(error)}`);
	}
}

async function appendSummary(path: string, text: string): Promise<void> {
	const size = await stat(path).then(
		(status) => status.size,
		() => 0,
	);
	if (size + Buffer.byteLength(text) <= LARGEST_SUMMARY_BYTES) await appendFile(path, text);
}
