import { Argument, type Command } from "commander";
import type { App } from "../app.ts";
import { Exit } from "../errors.ts";
import { completionScript, type CompletionEntry } from "./help/completion-script.ts";
import type { Done } from "../flags/declare.ts";
import { helpTopics } from "./help.ts";

/** Declares `completion`: a script made from the program's own tree, so that it can't name what is not there. */
export function completionCommand(program: Command, { io }: App, done: Done): void {
	program
		.command("completion")
		.summary("print a completion script for bash, zsh or fish")
		.description("Prints a completion script.")
		.addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
		.addHelpText(
			"before",
			"Examples:\n  source <(ragtag completion bash)\n  ragtag completion fish > ~/.config/fish/completions/ragtag.fish\n",
		)
		.action(async (shell: "bash" | "zsh" | "fish") => {
			await io.out(completionScript(shell, entriesOf(program)));
			done(Exit.ok);
		});
}

/** Every command of the tree with the words that may follow it. */
function entriesOf(program: Command): CompletionEntry[] {
	const global = program.options.flatMap(({ long }) => (long ? [long] : []));
	const walk = (command: Command, path: readonly string[]): CompletionEntry[] => {
		const own = command.options.flatMap(({ long }) => (long ? [long] : []));
		const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
		const children = command.commands.map((child) => child.name());
		const topics = path.join(" ") === "help" ? [...program.commands.map((one) => one.name()), ...helpTopics] : [];
		const words = [
			...children,
			...choices,
			...topics,
			...own,
			...global.filter((flag) => !own.includes(flag)),
			"--help",
		];
		const here = { path: path.join(" "), words: [...new Set(words)], takesFiles: children.length === 0 };
		return [here, ...command.commands.flatMap((child) => walk(child, [...path, child.name()]))];
	};
	return walk(program, []);
}
