import type { OutputFlags, RunEnd } from "../../run-end.ts";
import { pathInWorkspace } from "./annotate.ts";

/** The name that GitLab's documentation gives a report of code quality. */
const GITLAB_REPORT = "gl-code-quality-report.json";

/** What an output may need beside the end of the run. */
export type OutputContext = {
	/** as the user names it */
	readonly path: string;
	/** the folder of the repository in CI; undefined where none is named */
	readonly workspace: string | undefined;
	/** the text of the file that is there; undefined where there is none */
	readonly before: () => Promise<string | undefined>;
};

/** One output of a command that ends: a file that the user names. */
export type Output = {
	/** the flag that names its file */
	readonly flag: string;
	readonly path: (flags: OutputFlags) => string | undefined;
	/** the flags with this one, of that value */
	readonly given: (value: string) => OutputFlags;
	/** whether it is written without being asked for: then the command goes on where it can't be */
	readonly isAutomatic?: boolean;
	/** whether the file is of the job, so that a second start of a job that is going on leaves it alone */
	readonly isOfJob?: boolean;
	/** mode of a new file, before the user's mask */
	readonly mode: number;
	/** the text of the file */
	readonly text: (end: RunEnd, about: OutputContext) => Promise<string>;
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
		given: (junit) => ({ junit }),
		mode: FOR_ALL,
		text: async (end) => (await import("./junit.ts")).junitText(end),
	},
	{
		flag: "--metrics-file",
		path: ({ metricsFile }) => metricsFile,
		given: (metricsFile) => ({ metricsFile }),
		isOfJob: true,
		mode: FOR_ALL,
		text: async (end, { before }) => (await import("./metrics.ts")).metricsText(end, await before()),
	},
	{
		flag: "--annotations",
		path: ({ annotations }) => (annotations === "gitlab" ? GITLAB_REPORT : undefined),
		given: () => ({}),
		isAutomatic: true,
		mode: FOR_ALL,
		text: async (end, { workspace }) => {
			const { gitlabText } = await import("./gitlab.ts");
			return gitlabText(end, (file) => pathInWorkspace(file, workspace));
		},
	},
	{
		flag: "--report",
		path: ({ report }) => report,
		given: (report) => ({ report }),
		mode: FOR_OWNER,
		text: async (end, { path }) => (await import("./report-file.ts")).endedReport(end, path),
	},
];
