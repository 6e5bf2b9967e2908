import { Argument, type Command } from "commander";
import type { App } from "../app.ts";
import { Exit } from "../errors.ts";
import type { Done } from "../flags/declare.ts";
import { completionScript, type Shell } from "./complete/scripts.ts";

/** Declares `completion`: a script that asks the program itself for the next words. */
export function completionCommand(program: Command, { io }: App, done: Done): void {
	program
		.command("completion")
		.summary("print a completion script for bash, zsh or fish")
		.description("Prints a completion script: commands, options, choices, runs, profiles and names of datasets.")
		.addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
		.addHelpText(
			"before",
			"Examples:\n  source <(ragtag completion bash)\n  source <(ragtag completion zsh)\n  ragtag completion fish > ~/.config/fish/completions/ragtag.fish\n",
		)
		.action(async (shell: Shell) => {
			await io.out(completionScript(shell));
			done(Exit.ok);
		});
}
