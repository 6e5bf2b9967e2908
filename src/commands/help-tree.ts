import type { Command, Option } from "commander";
import { examplesOf } from "../flags/declare.ts";
import { VERSION } from "../version.ts";
import { exitCodes } from "./help-topics.ts";
import { optionsInGroups } from "./help-view.ts";

export type HelpTree = ReturnType<typeof helpTree>;

/** The whole tree of commands as data: for manuals, editors and other programs. */
export function helpTree(program: Command) {
	return {
		type: "help",
		ragtag: VERSION,
		commands: [...walk(program, [])].map(([command, path]) => commandEntry(command, path)),
		exit_codes: exitCodes.map(([code, meaning]) => ({ code, meaning: meaning.replaceAll("\n", " ") })),
	};
}

/** A command and all below it, each with the words after `ragtag`: none for the program itself. */
function* walk(command: Command, path: readonly string[]): Generator<readonly [Command, readonly string[]]> {
	yield [command, path];
	for (const child of childrenOf(command)) yield* walk(child, [...path, child.name()]);
}

/** The commands below another. Commander adds a command `help` to each group that is not ours. */
export function childrenOf(command: Command): readonly Command[] {
	const visible = command.createHelp().visibleCommands(command);
	return visible.filter((child) => command.commands.includes(child));
}

function commandEntry(command: Command, path: readonly string[]) {
	const summary = command.summary();
	return {
		command: path.join(" "),
		summary: summary === "" ? command.description() : summary,
		description: command.description(),
		usage: command.createHelp().commandUsage(command),
		examples: examplesOf(command),
		arguments: command.registeredArguments.map((argument) => {
			const { required, variadic, argChoices, description } = argument;
			return { name: argument.name(), required, variadic, choices: argChoices ?? null, description };
		}),
		options: [...optionsInGroups(command)].flatMap(([heading, options]) =>
			options.map((option) => optionEntry(option, heading.replace(/:$/, ""))),
		),
		/** words of the commands below it */
		commands: childrenOf(command).map((child) => child.name()),
	};
}

/** Absent values are null. @param group heading in the help */
function optionEntry(option: Option, group: string) {
	const { long, short, flags, description, argChoices, negate } = option;
	const byDefault: unknown = option.defaultValueDescription ?? option.defaultValue;
	const isPlain = typeof byDefault === "string" || typeof byDefault === "number" || typeof byDefault === "boolean";
	return {
		flag: long ?? "",
		short: short ?? null,
		/** name of its value; null for a switch */
		value: /<([^>]+)>/.exec(flags)?.[1]?.replace(/\.{3}$/, "") ?? null,
		repeatable: isRepeatable(option),
		choices: argChoices ?? null,
		default: isPlain && !negate ? byDefault : null,
		description,
		group,
	};
}

/** Options that gather their values say so in their description, as the help does. */
export function isRepeatable({ variadic, description }: Option): boolean {
	return variadic || description.includes("repeatable");
}
