import type { App } from "../../app.ts";
import { Exit, type ExitCode, reason } from "../../errors.ts";
import { readTextIfThere } from "../../run/storage/quick-files.ts";
import { writeWhole } from "../../write-whole.ts";
import type { OutputFlags, RunEnd } from "../../run-end.ts";

/** The name that GitLab's documentation gives a report of code quality. */
const GITLAB_REPORT = "gl-code-quality-report.json";

/** One output of a command that ends: a file that the user names. */
type Output = {
	/** the flag that names its file */
	readonly flag: string;
	readonly path: (flags: OutputFlags) => string | undefined;
	/** whether it is written without being asked for: then the command goes on where it can't be */
	readonly isAutomatic?: boolean | undefined;
	/** whether the file is of the job, so that a second start of a job that is going on leaves it alone */
	readonly isOfJob?: boolean | undefined;
	/** mode of a new file, before the user's mask */
	readonly mode: number;
	/** the text of the file, which is at `path` */
	readonly text: (end: RunEnd, path: string, ci: App["ci"]) => Promise<string>;
};

/** Other programs of the user's machine read these files: a CI server, an exporter of metrics. */
const FOR_ALL = 0o666;

/** It has values of documents, as the file of failed rows has. */
const FOR_OWNER = 0o600;

/** Every output, in the order in which they are written. Each is loaded when it is asked for. */
export const OUTPUTS: readonly Output[] = [
	{
		flag: "--junit",
		path: ({ junit }) => junit,
		mode: FOR_ALL,
		text: async (end) => (await import("./junit.ts")).junitText(end),
	},
	{
		flag: "--metrics-file",
		path: ({ metricsFile }) => metricsFile,
		isOfJob: true,
		mode: FOR_ALL,
		text: async (end, path) => (await import("./metrics.ts")).metricsText(end, readTextIfThere(path)),
	},
	{
		flag: "--annotations",
		path: ({ annotations }) => (annotations === "gitlab" ? GITLAB_REPORT : undefined),
		isAutomatic: true,
		mode: FOR_ALL,
		text: async (end, _, { workspace }) => {
			const { gitlabText, pathInWorkspace } = await import("./annotations.ts");
			return gitlabText(end, (file) => pathInWorkspace(file, workspace));
		},
	},
	{
		flag: "--report",
		path: ({ report }) => report,
		mode: FOR_OWNER,
		text: async (end, path) => (await import("./report-file.ts")).endedReport(end, path),
	},
];

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
		if (runEnd.flags.annotations === "github" && !runEnd.isAnnotated) {
			runEnd.isAnnotated = true;
			await (await import("./annotations.ts")).annotate(app, code);
		}
		if (code !== Exit.ok || runEnd.failures.size === 0) return code;
		// The outputs that were written say 0, and the exit code is 74 now.
	}
	return Exit.output;
}

async function writeAll({ runEnd, io, ci }: App, exit: ExitCode): Promise<void> {
	for (const output of OUTPUTS) {
		const path = output.path(runEnd.flags);
		if (exit === Exit.locked && output.isOfJob === true) continue;
		if (path === undefined || runEnd.refused.has(path) || runEnd.failures.has(path)) continue;
		try {
			await writeWhole(path, await output.text(runEnd.endOf(exit), path, ci), { mode: output.mode });
		} catch (error) {
			runEnd.failures.set(path, reason(error));
			io.err(`ragtag: ${output.flag} ${path}: ${reason(error)}`);
		}
	}
}
