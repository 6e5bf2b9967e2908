import type { Declared } from "../flags/declare.ts";

/** One command of a group, by its word. */
type Entry = readonly [name: string, load: () => Promise<Declared>];

type Group = {
	readonly name: string;
	readonly summary: string;
	/** each is loaded only when the command line names it, so that a command starts fast */
	readonly commands: readonly Entry[];
};

/** A command without a group is one of its own name. */
function alone(name: string, summary: string, load: Entry[1]): Group {
	return { name, summary, commands: [[name, load]] };
}

/** The tree of commands. A group with a command of its own name is that command. */
export const groups: readonly Group[] = [
	{
		name: "datasets",
		summary: "list and create datasets",
		commands: [
			["list", () => import("./datasets/list.ts").then((file) => file.listCommand)],
			["create", () => import("./datasets/create.ts").then((file) => file.createCommand)],
		],
	},
	{
		name: "docs",
		summary: "list, show, tag, plan, apply, resolve, upload, sync, download, parse and remove documents",
		commands: [
			["list", () => import("./docs/list.ts").then((file) => file.listCommand)],
			["show", () => import("./docs/show.ts").then((file) => file.showCommand)],
			["tag", () => import("./docs/tag.ts").then((file) => file.tagCommand)],
			["plan", () => import("./docs/plan.ts").then((file) => file.planCommand)],
			["apply", () => import("./docs/apply.ts").then((file) => file.applyCommand)],
			["resolve", () => import("./docs/resolve.ts").then((file) => file.resolveCommand)],
			["upload", () => import("./docs/upload.ts").then((file) => file.uploadCommand)],
			["download", () => import("./docs/download.ts").then((file) => file.downloadCommand)],
			["sync", () => import("./docs/sync.ts").then((file) => file.syncCommand)],
			["rm", () => import("./docs/rm.ts").then((file) => file.rmCommand)],
			["parse", () => import("./docs/parse.ts").then((file) => file.parseCommand)],
		],
	},
	alone("values", "count the metadata keys of a dataset, or the values of one key, and correct them", () =>
		import("./values.ts").then((file) => file.valuesCommand),
	),
	{
		name: "manifest",
		summary: "check a manifest, or make one from a dataset or from files",
		commands: [
			["check", () => import("./manifest/check.ts").then((file) => file.checkCommand)],
			["init", () => import("./manifest/init.ts").then((file) => file.initCommand)],
			["from", () => import("./manifest/from.ts").then((file) => file.fromCommand)],
		],
	},
	alone("doctor", "check the connection to the service, the key and its rights, and say what to do", () =>
		import("./doctor.ts").then((file) => file.doctorCommand),
	),
	{
		name: "runs",
		summary: "list, resume, retry, adjust, undo, verify, merge, blame and repair recorded runs",
		commands: [
			["list", () => import("./runs/list.ts").then((file) => file.listCommand)],
			["show", () => import("./runs/show.ts").then((file) => file.showCommand)],
			["resume", () => import("./runs/resume.ts").then((file) => file.resumeRunCommand)],
			["retry", () => import("./runs/resume.ts").then((file) => file.retryCommand)],
			["undo", () => import("./runs/undo.ts").then((file) => file.undoCommand)],
			["verify", () => import("./runs/verify.ts").then((file) => file.verifyCommand)],
			["adjust", () => import("./runs/adjust.ts").then((file) => file.adjustCommand)],
			["blame", () => import("./runs/blame.ts").then((file) => file.blameCommand)],
			["merge", () => import("./runs/merge.ts").then((file) => file.mergeCommand)],
			["report", () => import("./runs/report.ts").then((file) => file.reportCommand)],
			["repair", () => import("./runs/repair.ts").then((file) => file.repairCommand)],
			["prune", () => import("./runs/prune.ts").then((file) => file.pruneCommand)],
		],
	},
	alone("sandbox", "serve the API on this machine over a SQLite file", () =>
		import("./sandbox.ts").then((file) => file.sandboxCommand),
	),
	alone("completion", "print a completion script for bash, zsh or fish", () =>
		import("./completion.ts").then((file) => file.completionCommand),
	),
	alone("help", "print the help of a command, a table, or a page of the documentation", () =>
		import("./help.ts").then((file) => file.helpCommand),
	),
];

/**
 * The commands of a group that a command line may call. None where it does not name the group; where the word after the
 * group's name is no command, all of them, so that help and the words of an error know each.
 */
export function calledCommands({ name, commands }: Group, argv: readonly string[]): readonly Entry[] {
	const at = argv.indexOf(name);
	if (at === -1) return [];
	const called = commands.filter(([word]) => word === argv[at + 1]);
	if (called.length === 0) return commands;
	// An option's value may have come first: a later word may be the command.
	return commands.filter(([word]) => argv.includes(word));
}

/** The command of a name, as `docs tag` or `values`. */
export async function commandNamed(name: string): Promise<Declared | undefined> {
	const [group, word = group] = name.split(" ");
	const entry = groups.find((each) => each.name === group)?.commands.find(([each]) => each === word);
	return entry?.[1]();
}
