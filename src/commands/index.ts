import type { Declare } from "../flags/declare.ts";

export type Group = {
	readonly name: string;
	readonly summary: string;
	/** loaded only when the command line names it, so that `--help` and `--version` start fast */
	readonly load: () => Promise<readonly Declare[]>;
};

/** The tree of commands. A group whose commands hang directly on the program has `leaf`. */
export const groups: readonly (Group & { readonly leaf?: true })[] = [
	{
		name: "datasets",
		summary: "list and create datasets",
		load: async () => (await import("./datasets/index.ts")).commands,
	},
	{
		name: "docs",
		summary: "list, tag, plan, apply, resolve, upload and remove documents",
		load: async () => (await import("./docs/index.ts")).commands,
	},
	{
		name: "manifest",
		summary: "check a manifest, or make one",
		load: async () => (await import("./manifest/index.ts")).commands,
	},
	{
		name: "doctor",
		summary: "check the way to the service, the key and its rights; say what to do",
		leaf: true,
		load: async () => [(await import("./doctor.ts")).doctorCommand],
	},
	{
		name: "runs",
		summary: "list, resume, retry, undo, verify, blame and repair recorded runs",
		load: async () => (await import("./runs/index.ts")).commands,
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
