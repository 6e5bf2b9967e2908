import type { Declare, Resume } from "../flags/declare.ts";

export type Group = {
	readonly name: string;
	readonly summary: string;
	/** called only when the command line names the group, so that `--help` and `--version` start fast */
	readonly load: () => Promise<readonly Declare[]>;
};

/** The tree of commands. An entry with `leaf` is one command of that name. */
export const groups: readonly (Group & { readonly leaf?: true })[] = [
	{
		name: "datasets",
		summary: "list and create datasets",
		load: () =>
			Promise.all([
				import("./datasets/list.ts").then((file) => file.listCommand),
				import("./datasets/create.ts").then((file) => file.createCommand),
			]),
	},
	{
		name: "docs",
		summary: "list, tag, plan, apply, resolve, upload and remove documents",
		load: () =>
			Promise.all([
				import("./docs/list.ts").then((file) => file.listCommand),
				import("./docs/tag.ts").then((file) => file.tagCommand),
				import("./docs/plan.ts").then((file) => file.planCommand),
				import("./docs/apply.ts").then((file) => file.applyCommand),
				import("./docs/resolve.ts").then((file) => file.resolveCommand),
				import("./docs/upload.ts").then((file) => file.uploadCommand),
				import("./docs/rm.ts").then((file) => file.rmCommand),
			]),
	},
	{
		name: "values",
		summary: "count the metadata keys of a dataset, or the values of one key",
		leaf: true,
		load: async () => [(await import("./values.ts")).valuesCommand],
	},
	{
		name: "manifest",
		summary: "check a manifest, or make one from a dataset",
		load: () =>
			Promise.all([
				import("./manifest/check.ts").then((file) => file.checkCommand),
				import("./manifest/init.ts").then((file) => file.initCommand),
			]),
	},
	{
		name: "doctor",
		summary: "check the connection to the service, the key and its rights, and say what to do",
		leaf: true,
		load: async () => [(await import("./doctor.ts")).doctorCommand],
	},
	{
		name: "runs",
		summary: "list, resume, retry, adjust, undo, verify, merge, blame and repair recorded runs",
		load: () =>
			Promise.all([
				import("./runs/list.ts").then((file) => file.listCommand),
				import("./runs/show.ts").then((file) => file.showCommand),
				import("./runs/resume.ts").then((file) => file.resumeRunCommand),
				import("./runs/resume.ts").then((file) => file.retryCommand),
				import("./runs/undo.ts").then((file) => file.undoCommand),
				import("./runs/verify.ts").then((file) => file.verifyCommand),
				import("./runs/adjust.ts").then((file) => file.adjustCommand),
				import("./runs/blame.ts").then((file) => file.blameCommand),
				import("./runs/merge.ts").then((file) => file.mergeCommand),
				import("./runs/report.ts").then((file) => file.reportCommand),
				import("./runs/repair.ts").then((file) => file.repairCommand),
				import("./runs/prune.ts").then((file) => file.pruneCommand),
			]),
	},
	{
		name: "sandbox",
		summary: "serve the API on this machine over a SQLite file",
		leaf: true,
		load: async () => [(await import("./sandbox.ts")).sandboxCommand],
	},
	{
		name: "completion",
		summary: "print a completion script for bash, zsh or fish",
		leaf: true,
		load: async () => [(await import("./completion.ts")).completionCommand],
	},
];

/** How a run of each command is resumed. */
export const resumes: ReadonlyMap<string, () => Promise<Resume>> = new Map([
	["docs tag", () => import("./docs/tag.ts").then((file) => file.resumeTag)],
	["docs apply", () => import("./docs/apply.ts").then((file) => file.resumeApply)],
	["docs upload", () => import("./docs/upload.ts").then((file) => file.resumeUpload)],
	["docs rm", () => import("./docs/rm.ts").then((file) => file.resumeRemoval)],
	["runs undo", () => import("./runs/undo.ts").then((file) => file.resumeUndo)],
]);
