import type { Argument, Command, Option } from "commander";
import { examplesOf } from "../flags/declare.ts";
import { VERSION } from "../version.ts";
import { exitCodes } from "./help-topics.ts";
import { optionsInGroups } from "./help-view.ts";

/** One option as `ragtag help --json` prints it. Absent values are null. */
type OptionEntry = {
	readonly flag: string;
	readonly short: string | null;
	/** name of its value; null for a switch */
	readonly value: string | null;
	readonly repeatable: boolean;
	readonly choices: readonly string[] | null;
	readonly default: string | number | boolean | null;
	readonly description: string;
	/** heading in the help */
	readonly group: string;
};

type ArgumentEntry = {
	readonly name: string;
	readonly required: boolean;
	readonly variadic: boolean;
	readonly choices: readonly string[] | null;
	readonly description: string;
};

type CommandEntry = {
	/** words after `ragtag`; empty for the program itself */
	readonly command: string;
	readonly summary: string;
	readonly description: string;
	readonly usage: string;
	readonly examples: readonly string[];
	readonly arguments: readonly ArgumentEntry[];
	readonly options: readonly OptionEntry[];
	/** words of the commands below it */
	readonly commands: readonly string[];
};

export type HelpTree = {
	readonly type: "help";
	readonly ragtag: string;
	readonly commands: readonly CommandEntry[];
	readonly exit_codes: readonly { readonly code: number; readonly meaning: string }[];
};

/** The whole tree of commands as data: for manuals, editors and other programs. */
export function helpTree(program: Command): HelpTree {
	const walk = (command: Command, path: readonly string[]): CommandEntry[] => {
		const help = command.createHelp();
		const below = help.visibleCommands(command).filter((child) => command.commands.includes(child));
		const groups = [...optionsInGroups(command)];
		const entry: CommandEntry = {
			command: path.join(" "),
			summary: command.summary() === "" ? command.description() : command.summary(),
			description: command.description(),
			usage: help.commandUsage(command),
			examples: examplesOf(command),
			arguments: command.registeredArguments.map(argumentEntry),
			options: groups.flatMap(([heading, options]) =>
				options.map((option) => optionEntry(option, heading.replace(/:$/, ""))),
			),
			commands: below.map((child) => child.name()),
		};
		return [entry, ...below.flatMap((child) => walk(child, [...path, child.name()]))];
	};
	return {
		type: "help",
		ragtag: VERSION,
		commands: walk(program, []),
		exit_codes: exitCodes.map(([code, meaning]) => ({ code, meaning: meaning.replaceAll("\n", " ") })),
	};
}

function optionEntry(option: Option, group: string): OptionEntry {
	const { long, short, flags, description, variadic, argChoices, negate } = option;
	const value: unknown = option.defaultValueDescription ?? option.defaultValue;
	const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
	return {
		flag: long ?? "",
		short: short ?? null,
		value: /<([^>]+)>/.exec(flags)?.[1]?.replace(/\.{3}$/, "") ?? null,
		repeatable: variadic || description.includes("repeatable"),
		choices: argChoices ?? null,
		default: isPlain && !negate ? value : null,
		description,
		group,
	};
}

function argumentEntry(argument: Argument): ArgumentEntry {
	const { required, variadic, argChoices, description } = argument;
	return { name: argument.name(), required, variadic, choices: argChoices ?? null, description };
}
